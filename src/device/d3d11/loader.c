// SPDX-License-Identifier: MIT
// The libraries of Direct3D, and what its calls return.
#include "device/d3d11/driver.h"

static struct d3d_api api;
static bool is_loaded;

// They stay loaded: drivers do not survive being unloaded.
static void load_once(void)
{
    const HMODULE d3d11 = LoadLibraryA("d3d11.dll"), dxgi = LoadLibraryA("dxgi.dll");
    if (!d3d11 || !dxgi)
        return;
    api.create_device =
        (PFN_D3D11_CREATE_DEVICE)(void *)GetProcAddress(d3d11, "D3D11CreateDevice");
    api.create_factory = (HRESULT(WINAPI *)(REFIID, void **))(void *)GetProcAddress(
        dxgi, "CreateDXGIFactory1");
    is_loaded = api.create_device && api.create_factory;
}

const struct d3d_api *kal_d3d_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return is_loaded ? &api : NULL;
}

static pD3DCompile compiler;

static void load_compiler(void)
{
    const HMODULE library = LoadLibraryA("d3dcompiler_47.dll");
    if (library)
        compiler = (pD3DCompile)(void *)GetProcAddress(library, "D3DCompile");
}

pD3DCompile kal_d3d_compiler(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_compiler);
    return compiler;
}

static const struct {
    HRESULT result;
    const char *name;
    kallima_status status;
} meanings[] = {
    { E_OUTOFMEMORY, "out of memory", KALLIMA_E_MEMORY },
    { E_INVALIDARG, "invalid argument", KALLIMA_E_DEVICE },
    { DXGI_ERROR_DEVICE_REMOVED, "the device was removed", KALLIMA_E_DEVICE },
    { DXGI_ERROR_DEVICE_HUNG, "the device hung", KALLIMA_E_DEVICE },
    { DXGI_ERROR_DEVICE_RESET, "the device was reset", KALLIMA_E_DEVICE },
    { DXGI_ERROR_UNSUPPORTED, "unsupported", KALLIMA_E_DEVICE },
};

kallima_status kal_d3d_check(const struct d3d_device *device, HRESULT result,
                             const char *call)
{
    size_t i = 0;
    if (SUCCEEDED(result))
        return KALLIMA_OK;
    if (result == DXGI_ERROR_DEVICE_REMOVED && device->device)
        result = ID3D11Device_GetDeviceRemovedReason(device->device);
    while (i < KAL_COUNT(meanings) && meanings[i].result != result)
        i++;
    const bool is_known = i < KAL_COUNT(meanings);
    return kal_fail(&device->base.host, is_known ? meanings[i].status : KALLIMA_E_DEVICE,
                    "d3d11: %s: %s (0x%08lx)", call,
                    is_known ? meanings[i].name : "failed", (unsigned long)result);
}

kallima_status kal_d3d_wait(const struct d3d_device *device, ID3D11Query *query,
                            void *data, unsigned bytes)
{
    HRESULT result;
    while ((result = ID3D11DeviceContext_GetData(
                device->context, (ID3D11Asynchronous *)query, data, bytes, 0)) == S_FALSE)
        Sleep(0);
    return kal_d3d_check(device, result, "ID3D11DeviceContext::GetData");
}
