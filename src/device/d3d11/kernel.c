// SPDX-License-Identifier: MIT
// Kernels: text into bytecode by the compiler, bytecode into a shader by the driver.
#include "device/d3d11/driver.h"

#include <stdio.h>
#include <string.h>

// As much of the compiler's log as fits a sentence.
enum { LOG_CHARACTERS = 800 };

static const struct d3d_device *device_of(const struct d3d_kernel *kernel)
{
    return (const struct d3d_device *)kernel->base.device;
}

// Take bytecode of either origin. A driver that refuses it is no failure of the device.
static kallima_status make_shader(struct d3d_kernel *kernel, const char *name,
                                  const void *code, size_t bytes)
{
    const struct d3d_device *device = device_of(kernel);
    const bool is_code = bytes > 4 && memcmp(code, "DXBC", 4) == 0;
    const HRESULT result =
        is_code ? ID3D11Device_CreateComputeShader(device->device, code, bytes, NULL,
                                                   &kernel->shader)
                : E_INVALIDARG;
    if (SUCCEEDED(result))
        return KALLIMA_OK;
    if (result == E_OUTOFMEMORY || result == DXGI_ERROR_DEVICE_REMOVED)
        return kal_d3d_check(device, result, "ID3D11Device::CreateComputeShader");
    return kal_fail(&device->base.host, KALLIMA_E_COMPILE,
                    "d3d11: kernel %s: the driver refuses its bytecode (0x%08lx)", name,
                    (unsigned long)result);
}

static kallima_status refuse(const struct d3d_kernel *kernel, const char *name,
                             ID3DBlob *log)
{
    const char *text = log ? ID3D10Blob_GetBufferPointer(log) : "no reason is given";
    const size_t bytes = log ? ID3D10Blob_GetBufferSize(log) : strlen(text);
    return kal_fail(&kernel->base.device->host, KALLIMA_E_COMPILE,
                    "d3d11: kernel %s: D3DCompile: %.*s", name,
                    (int)kal_min((int64_t)bytes, LOG_CHARACTERS), text);
}

static kallima_status keep_code(const struct d3d_kernel *kernel, ID3DBlob *code,
                                struct kal_binary *made)
{
    const size_t bytes = ID3D10Blob_GetBufferSize(code);
    void *memory;
    KAL_TRY(kal_alloc(&kernel->base.device->host, &memory, bytes, 1));
    memcpy(memory, ID3D10Blob_GetBufferPointer(code), bytes);
    *made = (struct kal_binary){ memory, bytes };
    return KALLIMA_OK;
}

static kallima_status compile(struct d3d_kernel *kernel,
                              const struct kal_kernel_text *text, struct kal_binary *made)
{
    const UINT flags = D3DCOMPILE_OPTIMIZATION_LEVEL3 | D3DCOMPILE_IEEE_STRICTNESS;
    const pD3DCompile compiler = kal_d3d_compiler();
    ID3DBlob *code = NULL, *log = NULL;

    if (!compiler)
        return kal_fail(&kernel->base.device->host, KALLIMA_E_ABSENT,
                        "d3d11: kernel %s: d3dcompiler_47.dll cannot be loaded",
                        text->name);
    const HRESULT result = compiler(text->text, strlen(text->text), text->name, NULL,
                                    NULL, text->name, "cs_5_0", flags, 0, &code, &log);
    kallima_status status =
        SUCCEEDED(result) && code
            ? make_shader(kernel, text->name, ID3D10Blob_GetBufferPointer(code),
                          ID3D10Blob_GetBufferSize(code))
            : refuse(kernel, text->name, log);
    if (!status && made)
        status = keep_code(kernel, code, made);
    if (code)
        ID3D10Blob_Release(code);
    if (log)
        ID3D10Blob_Release(log);
    return status;
}

kallima_status kal_d3d_kernel_create(struct kal_device_kernel **out, kallima_device *base,
                                     const struct kal_kernel_text *text,
                                     const struct kal_binary *binary,
                                     struct kal_binary *made)
{
    void *object;

    KAL_TRY(kal_kernel_check(base, text));
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct d3d_kernel)));
    struct d3d_kernel *kernel = object;
    kernel->base = (struct kal_device_kernel){ base, text->lanes };
    kernel->slots = (uint32_t)text->slots;
    kernel->named = text->named;
    kernel->written = text->written;
    const kallima_status status =
        binary ? make_shader(kernel, text->name, binary->data, (size_t)binary->bytes)
               : compile(kernel, text, made);
    if (status) {
        kal_d3d_kernel_destroy(&kernel->base);
        return status;
    }
    *out = &kernel->base;
    return KALLIMA_OK;
}

void kal_d3d_kernel_destroy(struct kal_device_kernel *base)
{
    struct d3d_kernel *kernel = (struct d3d_kernel *)base;
    const struct kal_host host = base->device->host;
    if (kernel->shader)
        ID3D11ComputeShader_Release(kernel->shader);
    kal_free(&host, kernel);
}

// Bytecode is the same for all devices: drivers compile it once more.
void kal_d3d_kernel_key(const kallima_device *device, char *key, size_t capacity)
{
    const size_t length = strlen(key);
    (void)device;
    snprintf(key + length, capacity - length, "d3d11|cs_5_0|d3dcompiler_47");
}
