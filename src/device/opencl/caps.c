// SPDX-License-Identifier: MIT
// Which devices there are, and what they can do.
#include "device/opencl/driver.h"

#include <stdio.h>
#include <string.h>

// Of cl_amd_device_attribute_query; not every cl_ext.h has them.
enum { WAVEFRONT_WIDTH_AMD = 0x4043, LOCAL_BYTES_AMD = 0x4047 };

// Vector registers of a lane. Source: AMD, "RDNA3 Instruction Set Architecture".
enum { REGISTERS_AMD = 256 };

// A CPU has memory for groups far larger than any GPU's, and is not the faster for it.
enum { CPU_GROUP_BYTES = 64 << 10, CPU_GROUP_LANES = 1024 };

uint64_t kal_ocl_number(const struct ocl_api *cl, cl_device_id id, cl_device_info what)
{
    union {
        cl_uint u32;
        cl_ulong u64;
    } value = { 0 };
    size_t bytes = 0;
    if (cl->GetDeviceInfo(id, what, sizeof value, &value, &bytes) != CL_SUCCESS)
        return 0;
    return bytes == sizeof value.u32 ? value.u32 : value.u64;
}

// Cut to the capacity, empty if the device does not say.
static void device_text(const struct ocl_api *cl, cl_device_id id, cl_device_info what,
                        char *out, size_t capacity)
{
    char text[512] = "";
    if (cl->GetDeviceInfo(id, what, sizeof text, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    snprintf(out, capacity, "%s", text + strspn(text, " "));
}

static void platform_text(const struct ocl_api *cl, cl_device_id id,
                          cl_platform_info what, char *out, size_t capacity)
{
    char text[512] = "";
    cl_platform_id platform = NULL;
    if (cl->GetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) !=
            CL_SUCCESS ||
        cl->GetPlatformInfo(platform, what, sizeof text, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    snprintf(out, capacity, "%s", text);
}

static bool is_cpu(const struct ocl_api *cl, cl_device_id id)
{
    return kal_ocl_number(cl, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
}

static bool is_of(const struct ocl_api *cl, cl_device_id id, const char *platform)
{
    char name[64];
    platform_text(cl, id, CL_PLATFORM_NAME, name, sizeof name);
    return strcmp(name, platform) == 0;
}

int kal_ocl_nvidia_sm(const struct ocl_api *cl, cl_device_id id)
{
    if (!is_of(cl, id, "NVIDIA CUDA"))
        return 0;
    return (int)(10 * kal_ocl_number(cl, id, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) +
                 kal_ocl_number(cl, id, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
}

static bool is_amd(const struct ocl_api *cl, cl_device_id id)
{
    return is_of(cl, id, "AMD Accelerated Parallel Processing");
}

bool kal_ocl_is_usable(const struct ocl_api *cl, cl_device_id id)
{
    char version[64];
    int major = 0, minor = 0;
    device_text(cl, id, CL_DEVICE_VERSION, version, sizeof version);
    return sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 &&
           10 * major + minor >= 12 && kal_ocl_number(cl, id, CL_DEVICE_AVAILABLE) &&
           kal_ocl_number(cl, id, CL_DEVICE_COMPILER_AVAILABLE);
}

// Add the devices of one platform that are CPUs, or that are not.
static int add_devices(const struct ocl_api *cl, cl_platform_id platform, bool cpus,
                       cl_device_id ids[OCL_MAX_DEVICES], int count)
{
    cl_device_id all[OCL_MAX_DEVICES];
    cl_uint present = 0;
    if (cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, OCL_MAX_DEVICES, all, &present) !=
        CL_SUCCESS)
        return count;
    for (cl_uint i = 0; i < present && i < OCL_MAX_DEVICES; i++) {
        if (count < OCL_MAX_DEVICES && is_cpu(cl, all[i]) == cpus &&
            kal_ocl_is_usable(cl, all[i]))
            ids[count++] = all[i];
    }
    return count;
}

int kal_ocl_list(const struct ocl_api *cl, cl_device_id ids[OCL_MAX_DEVICES])
{
    cl_platform_id platforms[OCL_MAX_PLATFORMS];
    cl_uint present = 0;
    int count = 0;
    if (!cl || cl->GetPlatformIDs(OCL_MAX_PLATFORMS, platforms, &present) != CL_SUCCESS)
        return 0;
    for (int cpus = 0; cpus < 2; cpus++) {
        for (cl_uint i = 0; i < present && i < OCL_MAX_PLATFORMS; i++)
            count = add_devices(cl, platforms[i], cpus, ids, count);
    }
    return count;
}

// Lanes that run together. Only a maker's own driver is asked its own question.
static int warp(const struct ocl_api *cl, cl_device_id id)
{
    int lanes = 0;
    if (kal_ocl_nvidia_sm(cl, id))
        lanes = (int)kal_ocl_number(cl, id, CL_DEVICE_WARP_SIZE_NV);
    else if (is_amd(cl, id))
        lanes = (int)kal_ocl_number(cl, id, WAVEFRONT_WIDTH_AMD);
    return lanes > 0 ? lanes : is_cpu(cl, id) ? 8 : 32;
}

void kal_ocl_describe(const struct ocl_api *cl, cl_device_id id, int index,
                      kallima_device_info *info)
{
    char platform[32], driver[32];
    *info = (kallima_device_info){
        .is_software = is_cpu(cl, id),
        .has_f64 = kal_ocl_number(cl, id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
        .lanes_f32 = warp(cl, id),
        .memory_bytes = kal_ocl_number(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE),
    };
    snprintf(info->selector, sizeof info->selector, index < 0 ? "opencl" : "opencl:%d",
             index);
    device_text(cl, id, CL_DEVICE_NAME, info->name, sizeof info->name);
    platform_text(cl, id, CL_PLATFORM_NAME, platform, sizeof platform);
    device_text(cl, id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(info->driver, sizeof info->driver, "%s %s", platform, driver);
}

static uint64_t group_lanes(const struct ocl_api *cl, cl_device_id id)
{
    size_t sizes[8] = { 0 };
    uint64_t lanes = kal_ocl_number(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    cl->GetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
    if (sizes[0] > 0 && sizes[0] < lanes)
        lanes = sizes[0];
    if (is_cpu(cl, id) && lanes > CPU_GROUP_LANES)
        lanes = CPU_GROUP_LANES;
    return lanes;
}

static uint64_t group_bytes(const struct ocl_api *cl, cl_device_id id)
{
    uint64_t bytes = kal_ocl_number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE);
    if (is_cpu(cl, id) && bytes > CPU_GROUP_BYTES)
        bytes = CPU_GROUP_BYTES;
    return bytes;
}

// A group that runs goes on while others wait for it: so do GPUs, and oclgrind's groups, one
// after the other. PoCL's would, but version 3.1 miscompiles the loops that wait: barriers
// in two conditions of one loop make wrong results.
static bool has_forward_progress(const struct ocl_api *cl, cl_device_id id)
{
    return !is_cpu(cl, id) || is_of(cl, id, "Oclgrind");
}

// What NVIDIA's OpenCL does not tell; of caches, the smallest of a generation's larger
// chips. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability". A row holds up to the next.
static void add_nvidia(struct kal_caps *caps, int sm)
{
    static const struct {
        int sm, lanes, kib, cache_mib;
    } rows[] = {
        { 70, 2048, 96, 6 },   { 75, 1024, 64, 4 },    { 80, 2048, 164, 40 },
        { 86, 1536, 100, 4 },  { 87, 1536, 164, 4 },   { 89, 1536, 100, 32 },
        { 90, 2048, 228, 50 }, { 110, 1536, 228, 32 }, { 120, 1536, 100, 48 },
    };
    caps->has_nvidia_ptx = true;
    caps->lane_registers = 255;
    for (size_t i = 0; i < KAL_COUNT(rows) && rows[i].sm <= sm; i++) {
        caps->processor_lanes = rows[i].lanes;
        caps->processor_bytes = (uint64_t)rows[i].kib << 10;
        caps->shared_bytes = (uint64_t)rows[i].cache_mib << 20;
    }
}

struct kal_caps kal_ocl_caps(const struct ocl_api *cl, cl_device_id id)
{
    const int sm = kal_ocl_nvidia_sm(cl, id);
    struct kal_caps caps = {
        .has_f64 = kal_ocl_number(cl, id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
        .threads = 1,
        .lanes_f32 = warp(cl, id),
        .shared_bytes = kal_ocl_number(cl, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
        .memory_bytes = kal_ocl_number(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE),
        .language = KAL_LANGUAGE_OPENCL,
        .processors = (int)kal_ocl_number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS),
        .group_lanes = (int)group_lanes(cl, id),
        .group_bytes = group_bytes(cl, id),
        .has_forward_progress = has_forward_progress(cl, id),
    };
    caps.near_bytes = caps.group_bytes;
    if (is_amd(cl, id)) {
        caps.processor_bytes = kal_ocl_number(cl, id, LOCAL_BYTES_AMD);
        caps.lane_registers = REGISTERS_AMD;
    }
    if (sm)
        add_nvidia(&caps, sm);
    return caps;
}

void kal_ocl_key(const kallima_device *base, char *key, size_t capacity)
{
    const struct ocl_device *device = (const struct ocl_device *)base;
    char platform[128], version[128], name[128], driver[128];
    const size_t length = strlen(key);

    platform_text(device->cl, device->id, CL_PLATFORM_NAME, platform, sizeof platform);
    platform_text(device->cl, device->id, CL_PLATFORM_VERSION, version, sizeof version);
    device_text(device->cl, device->id, CL_DEVICE_NAME, name, sizeof name);
    device_text(device->cl, device->id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(key + length, capacity - length, "opencl|%s|%s|%s|%s", platform, version,
             name, driver);
}
