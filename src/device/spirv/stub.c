// SPDX-License-Identifier: MIT
// Built instead of loader.c where the module is not.
#include "device/spirv/spirv.h"

kal_spirv_compile *kal_spirv_compiler(const char **reason)
{
    *reason = "this library was built without the module " KAL_SPIRV_MODULE;
    return NULL;
}
