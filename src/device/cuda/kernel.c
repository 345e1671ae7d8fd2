// SPDX-License-Identifier: MIT
// Kernels: a cubin or PTX becomes a module, its function gets the memory that it needs, and
// what it takes of a processor is read once.
#include "device/cuda/driver.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

static bool spans(const struct kal_binary *binary, uint64_t offset, uint64_t bytes)
{
    return offset <= binary->bytes && bytes <= binary->bytes - offset;
}

// The driver is given no size, so what a binary points to has to be inside it.
static bool is_whole_elf(const struct kal_binary *binary)
{
    const char *bytes = binary->data;
    Elf64_Ehdr header;
    Elf64_Shdr section;

    if (!spans(binary, 0, sizeof header))
        return false;
    memcpy(&header, bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof section ||
        !spans(binary, header.e_shoff, (uint64_t)header.e_shnum * sizeof section) ||
        !spans(binary, header.e_phoff,
               (uint64_t)header.e_phnum * (uint64_t)header.e_phentsize))
        return false;
    for (int i = 0; i < header.e_shnum; i++) {
        memcpy(&section, bytes + header.e_shoff + (size_t)i * sizeof section,
               sizeof section);
        if (section.sh_type != SHT_NOBITS &&
            !spans(binary, section.sh_offset, section.sh_size))
            return false;
    }
    return true;
}

static bool is_whole(const struct kal_binary *binary)
{
    const char *bytes = binary->data;
    if (!bytes || binary->bytes == 0)
        return false;
    if (binary->bytes >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0)
        return is_whole_elf(binary);
    return bytes[binary->bytes - 1] == '\0'; // PTX
}

static kallima_status load_module(const struct cuda_device *device,
                                  struct cuda_kernel *kernel,
                                  const struct kal_kernel_text *text,
                                  const struct kal_binary *binary)
{
    char log[400] = "";
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER,
                               CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };

    const CUresult result = device->driver->ModuleLoadDataEx(
        &kernel->module, binary->data, KAL_COUNT(options), options, values);
    if (result != CUDA_SUCCESS)
        kernel->module = NULL;
    KAL_TRY(kal_cuda_check(device, result, "load kernel %s%s%s", text->name,
                           log[0] ? ": " : "", log));
    return kal_cuda_check(
        device,
        device->driver->ModuleGetFunction(&kernel->function, kernel->module, text->name),
        "find kernel %s in its module", text->name);
}

static kallima_status get_attribute(const struct cuda_device *device,
                                    const struct cuda_kernel *kernel,
                                    CUfunction_attribute attribute, int *value)
{
    *value = 0;
    return kal_cuda_check(
        device, device->driver->FuncGetAttribute(value, attribute, kernel->function),
        "read attribute %d of a kernel", (int)attribute);
}

// Registers, spills, group memory, and whether so many lanes can have them.
static kallima_status read_needs(const struct cuda_device *device,
                                 struct cuda_kernel *kernel,
                                 const struct kal_kernel_text *text)
{
    struct kal_kernel_facts *facts = &kernel->facts;
    int declared_bytes, most_lanes;

    KAL_TRY(get_attribute(device, kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, &facts->registers));
    KAL_TRY(get_attribute(device, kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                          &facts->spill_bytes));
    KAL_TRY(get_attribute(device, kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                          &declared_bytes));
    KAL_TRY(get_attribute(device, kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                          &most_lanes));
    facts->group_bytes = declared_bytes + (int64_t)text->group_bytes;
    if (text->lanes > most_lanes)
        return kal_fail(&device->base.host, KALLIMA_E_UNSUPPORTED,
                        "cuda: kernel %s: %d lanes; with %d registers the limit is %d",
                        text->name, text->lanes, facts->registers, most_lanes);
    return KALLIMA_OK;
}

// Beyond what every device grants, group memory and large clusters have to be asked for.
static kallima_status set_attributes(const struct cuda_device *device,
                                     const struct cuda_kernel *kernel,
                                     const struct kal_kernel_text *text)
{
    const struct {
        CUfunction_attribute attribute;
        int value;
        bool is_wanted;
        const char *wish;
    } wishes[] = {
        { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)kernel->group_bytes,
          kernel->group_bytes > 0, "bytes of group memory" },
        { CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel->cluster > 8,
          "permission for large clusters" },
    };
    for (size_t i = 0; i < KAL_COUNT(wishes); i++) {
        if (!wishes[i].is_wanted)
            continue;
        CUresult result = device->driver->FuncSetAttribute(
            kernel->function, wishes[i].attribute, wishes[i].value);
        if (result == CUDA_ERROR_INVALID_VALUE) // the driver's way to say: too much
            result = CUDA_ERROR_NOT_SUPPORTED;
        KAL_TRY(kal_cuda_check(device, result, "give kernel %s %d %s", text->name,
                               wishes[i].value, wishes[i].wish));
    }
    return KALLIMA_OK;
}

static CUresult count_clusters(const struct cuda_device *device,
                               const struct cuda_kernel *kernel, int *count)
{
    CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
    cluster.value.clusterDim.x = (unsigned)kernel->cluster;
    cluster.value.clusterDim.y = 1;
    cluster.value.clusterDim.z = 1;
    const CUlaunchConfig config = {
        .gridDimX = (unsigned)kernel->cluster,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = (unsigned)kernel->base.lanes,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = kernel->group_bytes,
        .attrs = &cluster,
        .numAttrs = 1,
    };
    return device->driver->OccupancyMaxActiveClusters(count, kernel->function, &config);
}

// How many groups run on a processor at once; clusters leave some processors out, so their
// number is an average, rounded up.
static kallima_status read_occupancy(const struct cuda_device *device,
                                     struct cuda_kernel *kernel,
                                     const struct kal_kernel_text *text)
{
    const int processors = device->base.caps.processors;
    int fitting = 0;
    const CUresult result =
        kernel->cluster > 1
            ? count_clusters(device, kernel, &fitting)
            : device->driver->OccupancyMaxActiveBlocksPerMultiprocessor(
                  &fitting, kernel->function, kernel->base.lanes, kernel->group_bytes);

    KAL_TRY(kal_cuda_check(device, result, "read how often kernel %s fits", text->name));
    if (fitting < 1)
        return kal_fail(&device->base.host, KALLIMA_E_UNSUPPORTED,
                        "cuda: kernel %s: %d groups of %d lanes with %lld bytes do not "
                        "fit the device at once",
                        text->name, kernel->cluster, kernel->base.lanes,
                        (long long)kernel->facts.group_bytes);
    kernel->facts.groups_per_processor =
        kernel->cluster > 1 ? (fitting * kernel->cluster + processors - 1) / processors
                            : fitting;
    return KALLIMA_OK;
}

static kallima_status load_inside(const struct cuda_device *device,
                                  struct cuda_kernel *kernel,
                                  const struct kal_kernel_text *text,
                                  const struct kal_binary *binary)
{
    KAL_TRY(load_module(device, kernel, text, binary));
    KAL_TRY(read_needs(device, kernel, text));
    KAL_TRY(set_attributes(device, kernel, text));
    return read_occupancy(device, kernel, text);
}

static kallima_status load(struct cuda_kernel *kernel, const struct kal_kernel_text *text,
                           const struct kal_binary *binary)
{
    const struct cuda_device *device = kal_cuda_device(kernel->base.device);
    KAL_TRY(kal_cuda_enter(device));
    const kallima_status status = load_inside(device, kernel, text, binary);
    kal_cuda_leave(device);
    return status;
}

static kallima_status create_from(struct kal_device_kernel **out, kallima_device *device,
                                  const struct kal_kernel_text *text,
                                  const struct kal_binary *binary)
{
    void *object;

    if (!is_whole(binary))
        return kal_fail(&device->host, KALLIMA_E_COMPILE,
                        "cuda: kernel %s: its binary of %llu bytes is damaged",
                        text->name, (unsigned long long)binary->bytes);
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct cuda_kernel)));
    struct cuda_kernel *kernel = object;
    kernel->base.device = device;
    kernel->base.lanes = text->lanes;
    kernel->cluster = text->cluster;
    kernel->slots = text->slots;
    kernel->group_bytes = (unsigned)text->group_bytes;
    const kallima_status status = load(kernel, text, binary);
    if (status) {
        kal_cuda_kernel_destroy(&kernel->base);
        return status;
    }
    *out = &kernel->base;
    return KALLIMA_OK;
}

static kallima_status compile(kallima_device *base, const struct kal_kernel_text *text,
                              struct kal_binary *binary)
{
    const struct cuda_device *device = kal_cuda_device(base);
    char architecture[32];
    KAL_TRY(kal_cuda_architecture(&base->host, device->major, device->minor, architecture,
                                  sizeof architecture));
    return kal_cuda_compile(&base->host, text, architecture, binary);
}

kallima_status kal_cuda_kernel_create(struct kal_device_kernel **out,
                                      kallima_device *device,
                                      const struct kal_kernel_text *text,
                                      const struct kal_binary *binary,
                                      struct kal_binary *made)
{
    struct kal_binary compiled;

    *out = NULL;
    if (made)
        *made = (struct kal_binary){ NULL, 0 };
    KAL_TRY(kal_kernel_check(device, text));
    if (binary)
        return create_from(out, device, text, binary);
    KAL_TRY(compile(device, text, &compiled));
    const kallima_status status = create_from(out, device, text, &compiled);
    if (status == KALLIMA_OK && made)
        *made = compiled;
    else
        kal_free(&device->host, compiled.data);
    return status;
}

void kal_cuda_kernel_destroy(struct kal_device_kernel *base)
{
    struct cuda_kernel *kernel = (struct cuda_kernel *)base;
    const struct cuda_device *device = kal_cuda_device(base->device);

    if (kernel->module &&
        device->driver->CtxPushCurrent(device->context) == CUDA_SUCCESS) {
        device->driver->ModuleUnload(kernel->module);
        kal_cuda_leave(device);
    }
    kal_free(&device->base.host, kernel);
}

void kal_cuda_kernel_describe(const struct kal_device_kernel *kernel,
                              struct kal_kernel_facts *facts)
{
    *facts = ((const struct cuda_kernel *)kernel)->facts;
}

void kal_cuda_kernel_key(const kallima_device *base, char *key, size_t capacity)
{
    const struct cuda_device *device = kal_cuda_device(base);
    const size_t length = strnlen(key, capacity);
    char name[128] = "";
    int version = 0;

    device->driver->DeviceGetName(name, sizeof name, device->ordinal);
    device->driver->DriverGetVersion(&version);
    snprintf(key + length, capacity - length, "%s, sm_%d%d, driver %d, NVRTC %d", name,
             device->major, device->minor, version, kal_cuda_compiler_version());
}
