// SPDX-License-Identifier: MIT
// Which devices there are, and what they can do.
#define INITGUID
#include "device/d3d11/driver.h"

#include <stdio.h>
#include <string.h>

// Direct3D does not tell how many processors there are, nor how wide they are.
enum { PROCESSORS = 16, GPU_LANES = 32, SOFTWARE_LANES = 8 };

// The adapter that Windows has where there is no other.
enum { MICROSOFT = 0x1414, BASIC_RENDER_DRIVER = 0x8c };

// Adapters of Wine go by the name of a card, whatever draws for them: none is chosen by default.
static bool is_wine(void)
{
    const HMODULE ntdll = GetModuleHandleA("ntdll.dll");
    return ntdll && GetProcAddress(ntdll, "wine_get_version");
}

static bool is_imitation(const DXGI_ADAPTER_DESC1 *desc)
{
    static const wchar_t *const names[] = { L"llvmpipe", L"lavapipe", L"SwiftShader",
                                            L"WARP", L"Basic Render" };
    if (is_wine() || (desc->Flags & DXGI_ADAPTER_FLAG_SOFTWARE) ||
        (desc->VendorId == MICROSOFT && desc->DeviceId == BASIC_RENDER_DRIVER))
        return true;
    for (size_t i = 0; i < KAL_COUNT(names); i++) {
        if (wcsstr(desc->Description, names[i]))
            return true;
    }
    return false;
}

HRESULT kal_d3d_create(const struct d3d_api *api, IDXGIAdapter1 *adapter,
                       ID3D11Device **device, ID3D11DeviceContext **context)
{
    static const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
    return api->create_device((IDXGIAdapter *)adapter, D3D_DRIVER_TYPE_UNKNOWN, NULL, 0,
                              &level, 1, D3D11_SDK_VERSION, device, NULL, context);
}

static bool has_doubles(ID3D11Device *device)
{
    D3D11_FEATURE_DATA_DOUBLES doubles = { 0 };
    return SUCCEEDED(ID3D11Device_CheckFeatureSupport(device, D3D11_FEATURE_DOUBLES,
                                                      &doubles, sizeof doubles)) &&
           doubles.DoublePrecisionFloatShaderOps;
}

static void describe(IDXGIAdapter1 *adapter, ID3D11Device *device,
                     kallima_device_info *info)
{
    DXGI_ADAPTER_DESC1 desc = { 0 };
    LARGE_INTEGER version = { 0 };

    *info = (kallima_device_info){ .has_f64 = has_doubles(device) };
    IDXGIAdapter1_GetDesc1(adapter, &desc);
    IDXGIAdapter1_CheckInterfaceSupport(adapter, &IID_IDXGIDevice, &version);
    WideCharToMultiByte(CP_UTF8, 0, desc.Description, -1, info->name, sizeof info->name,
                        NULL, NULL);
    snprintf(info->driver, sizeof info->driver, "Direct3D 11, driver %u.%u.%u.%u",
             (unsigned)HIWORD(version.HighPart), (unsigned)LOWORD(version.HighPart),
             (unsigned)HIWORD(version.LowPart), (unsigned)LOWORD(version.LowPart));
    info->is_software = is_imitation(&desc);
    info->lanes_f32 = info->is_software ? SOFTWARE_LANES : GPU_LANES;
    info->memory_bytes = desc.DedicatedVideoMemory;
}

static struct d3d_adapter present[D3D_MOST_DEVICES];
static int present_count;

static void probe(const struct d3d_api *api, IDXGIAdapter1 *adapter)
{
    ID3D11DeviceContext *context = NULL;
    ID3D11Device *device = NULL;

    if (FAILED(kal_d3d_create(api, adapter, &device, &context)))
        return;
    kallima_device_info *info = &present[present_count].info;
    describe(adapter, device, info);
    snprintf(info->selector, sizeof info->selector, "d3d11:%d", present_count);
    IDXGIAdapter1_AddRef(adapter);
    present[present_count++].adapter = adapter;
    ID3D11DeviceContext_Release(context);
    ID3D11Device_Release(device);
}

// Call `visit` for the adapters that are imitations, or those that are not.
static void each_adapter(IDXGIFactory1 *factory, bool software, const struct d3d_api *api,
                         void (*visit)(const struct d3d_api *api, IDXGIAdapter1 *adapter))
{
    IDXGIAdapter1 *adapter;
    for (UINT i = 0; present_count < D3D_MOST_DEVICES &&
                     SUCCEEDED(IDXGIFactory1_EnumAdapters1(factory, i, &adapter));
         i++) {
        DXGI_ADAPTER_DESC1 desc = { 0 };
        IDXGIAdapter1_GetDesc1(adapter, &desc);
        if (is_imitation(&desc) == software)
            visit(api, adapter);
        IDXGIAdapter1_Release(adapter);
    }
}

static IDXGIFactory1 *open_factory(const struct d3d_api *api)
{
    void *factory = NULL;
    return api && SUCCEEDED(api->create_factory(&IID_IDXGIFactory1, &factory)) ? factory
                                                                               : NULL;
}

// A device is made of each once, to ask it.
static void probe_all(void)
{
    const struct d3d_api *api = kal_d3d_api();
    IDXGIFactory1 *factory = open_factory(api);
    if (!factory)
        return;
    each_adapter(factory, false, api, probe);
    each_adapter(factory, true, api, probe);
    IDXGIFactory1_Release(factory);
}

const struct d3d_adapter *kal_d3d_adapter(int index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, probe_all);
    return index >= 0 && index < present_count ? &present[index] : NULL;
}

bool kal_d3d_has_gpu(void)
{
    IDXGIFactory1 *factory = open_factory(kal_d3d_api());
    IDXGIAdapter1 *adapter;
    bool has_gpu = false;

    if (!factory)
        return false;
    for (UINT i = 0;
         !has_gpu && SUCCEEDED(IDXGIFactory1_EnumAdapters1(factory, i, &adapter)); i++) {
        DXGI_ADAPTER_DESC1 desc = { 0 };
        IDXGIAdapter1_GetDesc1(adapter, &desc);
        has_gpu = !is_imitation(&desc);
        IDXGIAdapter1_Release(adapter);
    }
    IDXGIFactory1_Release(factory);
    return has_gpu;
}

void kal_d3d_describe_device(ID3D11Device *device, kallima_device_info *info)
{
    IDXGIDevice *dxgi = NULL;
    IDXGIAdapter *adapter = NULL;
    IDXGIAdapter1 *newer = NULL;

    *info = (kallima_device_info){ .has_f64 = has_doubles(device) };
    if (SUCCEEDED(
            ID3D11Device_QueryInterface(device, &IID_IDXGIDevice, (void **)&dxgi)) &&
        SUCCEEDED(IDXGIDevice_GetAdapter(dxgi, &adapter)) &&
        SUCCEEDED(
            IDXGIAdapter_QueryInterface(adapter, &IID_IDXGIAdapter1, (void **)&newer)))
        describe(newer, device, info);
    snprintf(info->selector, sizeof info->selector, "d3d11");
    if (newer)
        IDXGIAdapter1_Release(newer);
    if (adapter)
        IDXGIAdapter_Release(adapter);
    if (dxgi)
        IDXGIDevice_Release(dxgi);
}

// What feature level 11_0 promises of a group can neither be asked for nor exceeded.
void kal_d3d_fill_caps(struct d3d_device *device)
{
    const uint64_t group_bytes = D3D11_CS_TGSM_REGISTER_COUNT * sizeof(uint32_t);

    device->base.caps = (struct kal_caps){
        .has_f64 = device->info.has_f64,
        .threads = 1,
        .lanes_f32 = device->info.lanes_f32,
        .near_bytes = group_bytes,
        .memory_bytes = device->info.memory_bytes,
        .language = KAL_LANGUAGE_HLSL,
        .processors = PROCESSORS,
        .group_lanes = D3D11_CS_THREAD_GROUP_MAX_THREADS_PER_GROUP,
        .kernel_slots = D3D_MOST_SLOTS,
        .group_bytes = group_bytes,
        .buffer_bytes = INT32_MAX, // indices and bytes are numbers of 32 bits
        .is_slow_to_wake = !device->info.is_software,
    };
}
