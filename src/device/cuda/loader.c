// SPDX-License-Identifier: MIT
// The driver's symbols by dlopen(), and what every call of the driver needs around it.
#include "device/cuda/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct cuda_driver driver;
static bool is_loaded;

static const struct {
    const char *name;
    size_t place; // of the pointer in struct cuda_driver
    bool is_needed;
} symbols[] = {
#define SYMBOL(name, suffix, is_needed) \
    { "cu" #name #suffix, offsetof(struct cuda_driver, name), is_needed },
    KAL_CUDA_SYMBOLS(SYMBOL)
#undef SYMBOL
};

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    for (size_t i = 0; i < KAL_COUNT(symbols); i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol && symbols[i].is_needed) {
            dlclose(library);
            return;
        }
        memcpy((char *)&driver + symbols[i].place, &symbol, sizeof symbol);
    }
    is_loaded = true; // and stays so: a driver is not made to be unloaded
}

const struct cuda_driver *kal_cuda_driver_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded && driver.Init(0) == CUDA_SUCCESS ? &driver : NULL;
}

// What a failure of the driver is to us; what is not listed is E_DEVICE.
static const struct {
    CUresult result;
    kallima_status status;
} meanings[] = {
    { CUDA_ERROR_OUT_OF_MEMORY, KALLIMA_E_MEMORY },
    { CUDA_ERROR_NO_DEVICE, KALLIMA_E_ABSENT },
    { CUDA_ERROR_INVALID_DEVICE, KALLIMA_E_ABSENT },
    { CUDA_ERROR_NOT_SUPPORTED, KALLIMA_E_UNSUPPORTED },
    { CUDA_ERROR_INVALID_IMAGE, KALLIMA_E_COMPILE },
    { CUDA_ERROR_INVALID_SOURCE, KALLIMA_E_COMPILE },
    { CUDA_ERROR_NO_BINARY_FOR_GPU, KALLIMA_E_COMPILE },
    { CUDA_ERROR_INVALID_PTX, KALLIMA_E_COMPILE },
    { CUDA_ERROR_UNSUPPORTED_PTX_VERSION, KALLIMA_E_COMPILE },
    { CUDA_ERROR_JIT_COMPILER_NOT_FOUND, KALLIMA_E_COMPILE },
    { CUDA_ERROR_JIT_COMPILATION_DISABLED, KALLIMA_E_COMPILE },
    { CUDA_ERROR_NOT_FOUND, KALLIMA_E_COMPILE },
};

kallima_status kal_cuda_check(const struct cuda_device *device, CUresult result,
                              const char *fmt, ...)
{
    kallima_status status = KALLIMA_E_DEVICE;
    const char *name = NULL;
    char asked[600];
    va_list args;

    if (result == CUDA_SUCCESS)
        return KALLIMA_OK;
    va_start(args, fmt);
    vsnprintf(asked, sizeof asked, fmt, args);
    va_end(args);
    for (size_t i = 0; i < KAL_COUNT(meanings); i++) {
        if (meanings[i].result == result)
            status = meanings[i].status;
    }
    if (device->driver->GetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "an error without a name";
    return kal_fail(&device->base.host, status, "cuda: %s: %s (%d)", asked, name,
                    (int)result);
}

kallima_status kal_cuda_enter(const struct cuda_device *device)
{
    return kal_cuda_check(device, device->driver->CtxPushCurrent(device->context),
                          "make the context current");
}

void kal_cuda_leave(const struct cuda_device *device)
{
    CUcontext left; // a refusal could only mean that somebody else has popped it
    device->driver->CtxPopCurrent(&left);
}
