// SPDX-License-Identifier: MIT
// OpenCL's functions by name. A program that has OpenCL already, or one that runs under a
// checker that stands in for it, is asked first, so that all use the same.
#include "device/opencl/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define OCL_ROW(name) { "cl" #name, offsetof(struct ocl_api, name) },
    OCL_FUNCTIONS(OCL_ROW)
#undef OCL_ROW
};

static struct ocl_api api;
static bool is_loaded;

static bool load(void *library)
{
    for (size_t i = 0; library && i < KAL_COUNT(functions); i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol)
            return false;
        memcpy((char *)&api + functions[i].offset, &symbol, sizeof symbol);
    }
    return library != NULL;
}

// The library stays loaded: drivers do not survive being unloaded.
static void load_once(void)
{
    is_loaded = load(dlopen(NULL, RTLD_LAZY)) ||
                load(dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL));
}

const struct ocl_api *kal_ocl_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return is_loaded ? &api : NULL;
}

#define NAME(code)  \
    {               \
        code, #code \
    }
static const struct {
    cl_int code;
    const char *name;
} errors[] = {
    NAME(CL_DEVICE_NOT_FOUND),
    NAME(CL_DEVICE_NOT_AVAILABLE),
    NAME(CL_COMPILER_NOT_AVAILABLE),
    NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAME(CL_OUT_OF_RESOURCES),
    NAME(CL_OUT_OF_HOST_MEMORY),
    NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
    NAME(CL_MEM_COPY_OVERLAP),
    NAME(CL_BUILD_PROGRAM_FAILURE),
    NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAME(CL_INVALID_VALUE),
    NAME(CL_INVALID_PLATFORM),
    NAME(CL_INVALID_DEVICE),
    NAME(CL_INVALID_CONTEXT),
    NAME(CL_INVALID_QUEUE_PROPERTIES),
    NAME(CL_INVALID_COMMAND_QUEUE),
    NAME(CL_INVALID_HOST_PTR),
    NAME(CL_INVALID_MEM_OBJECT),
    NAME(CL_INVALID_BINARY),
    NAME(CL_INVALID_BUILD_OPTIONS),
    NAME(CL_INVALID_PROGRAM),
    NAME(CL_INVALID_PROGRAM_EXECUTABLE),
    NAME(CL_INVALID_KERNEL_NAME),
    NAME(CL_INVALID_KERNEL_DEFINITION),
    NAME(CL_INVALID_KERNEL),
    NAME(CL_INVALID_ARG_INDEX),
    NAME(CL_INVALID_ARG_VALUE),
    NAME(CL_INVALID_ARG_SIZE),
    NAME(CL_INVALID_KERNEL_ARGS),
    NAME(CL_INVALID_WORK_DIMENSION),
    NAME(CL_INVALID_WORK_GROUP_SIZE),
    NAME(CL_INVALID_WORK_ITEM_SIZE),
    NAME(CL_INVALID_GLOBAL_OFFSET),
    NAME(CL_INVALID_EVENT_WAIT_LIST),
    NAME(CL_INVALID_EVENT),
    NAME(CL_INVALID_OPERATION),
    NAME(CL_INVALID_BUFFER_SIZE),
    NAME(CL_INVALID_GLOBAL_WORK_SIZE),
    NAME(CL_INVALID_PROPERTY),
};
#undef NAME

const char *kal_ocl_error_name(cl_int code)
{
    for (size_t i = 0; i < KAL_COUNT(errors); i++) {
        if (errors[i].code == code)
            return errors[i].name;
    }
    return "unknown error";
}

kallima_status kal_ocl_check(const struct ocl_device *device, cl_int code,
                             const char *call)
{
    if (code == CL_SUCCESS)
        return KALLIMA_OK;
    const bool is_memory =
        code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return kal_fail(&device->base.host, is_memory ? KALLIMA_E_MEMORY : KALLIMA_E_DEVICE,
                    "opencl: %s: %s (%d)", call, kal_ocl_error_name(code), code);
}
