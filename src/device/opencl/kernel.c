// SPDX-License-Identifier: MIT
// Kernels: text or a binary into a program, and what the compiler made of it.
#include "device/opencl/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Nothing that lets a compiler round in its own way, such as -cl-mad-enable or
// -cl-fast-relaxed-math: the bounds on the error rest on the operations as they are
// written, and a sum kept in two numbers does not survive reordering. -w: some drivers write
// how many warnings there were to the program's standard error.
#define BUILD_OPTIONS "-cl-std=CL1.2 -w"

// As much of the compiler's log as fits a sentence.
enum { LOG_CHARACTERS = 800 };

// The compiler's log; empty if there is none. Freed with kal_free().
static kallima_status build_log(const struct ocl_kernel *kernel, char **out)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    size_t bytes = 0;
    void *text;

    if (device->cl->GetProgramBuildInfo(kernel->program, device->id, CL_PROGRAM_BUILD_LOG,
                                        0, NULL, &bytes) != CL_SUCCESS)
        bytes = 0;
    KAL_TRY(kal_alloc_object(&device->base.host, &text, bytes + 1));
    if (bytes > 0 &&
        device->cl->GetProgramBuildInfo(kernel->program, device->id, CL_PROGRAM_BUILD_LOG,
                                        bytes, text, NULL) != CL_SUCCESS)
        ((char *)text)[0] = '\0';
    *out = text;
    return KALLIMA_OK;
}

// The line with the first error, or the start if no line calls itself one.
static const char *first_error(const char *log)
{
    const char *error = strstr(log, "error:");
    while (error && error > log && error[-1] != '\n')
        error--;
    return error ? error : log + strspn(log, " \n");
}

static kallima_status report_build(const struct ocl_kernel *kernel, const char *name,
                                   const char *call, cl_int code)
{
    const struct kal_host *host = &kernel->base.device->host;
    char *log = NULL;
    if (code == CL_OUT_OF_HOST_MEMORY || build_log(kernel, &log) != KALLIMA_OK)
        return kal_fail(host, KALLIMA_E_MEMORY, "opencl: kernel %s: out of memory", name);
    const kallima_status status =
        kal_fail(host, KALLIMA_E_COMPILE, "opencl: kernel %s: %s: %s (%d): %.*s", name,
                 call, kal_ocl_error_name(code), code, LOG_CHARACTERS, first_error(log));
    kal_free(host, log);
    return status;
}

static kallima_status make_program(struct ocl_kernel *kernel,
                                   const struct kal_kernel_text *text,
                                   const struct kal_binary *binary)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    cl_int code;
    if (!binary) {
        kernel->program = device->cl->CreateProgramWithSource(
            device->context, 1, (const char *[]){ text->text }, NULL, &code);
        return kal_ocl_check(device, code, "clCreateProgramWithSource");
    }
    const unsigned char *data = binary->data;
    const size_t bytes = (size_t)binary->bytes;
    kernel->program = device->cl->CreateProgramWithBinary(device->context, 1, &device->id,
                                                          &bytes, &data, NULL, &code);
    if (code == CL_SUCCESS)
        return KALLIMA_OK;
    return kal_fail(&device->base.host, KALLIMA_E_COMPILE,
                    "opencl: kernel %s: clCreateProgramWithBinary: %s (%d)", text->name,
                    kal_ocl_error_name(code), code);
}

static kallima_status build(struct ocl_kernel *kernel, const struct kal_kernel_text *text)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    char options[sizeof BUILD_OPTIONS + 64] = BUILD_OPTIONS;
    if (device->nvidia_sm)
        snprintf(options, sizeof options, BUILD_OPTIONS " -DNVIDIA_SM=%d -cl-nv-verbose",
                 device->nvidia_sm);
    cl_int code =
        device->cl->BuildProgram(kernel->program, 1, &device->id, options, NULL, NULL);
    if (code != CL_SUCCESS)
        return report_build(kernel, text->name, "clBuildProgram", code);
    kernel->handle = device->cl->CreateKernel(kernel->program, text->name, &code);
    if (code != CL_SUCCESS)
        return report_build(kernel, text->name, "clCreateKernel", code);
    return KALLIMA_OK;
}

// A number that the compiler tells of the kernel; 0 if it does not.
static uint64_t kernel_number(const struct ocl_kernel *kernel,
                              cl_kernel_work_group_info what)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    union {
        cl_uint u32;
        cl_ulong u64;
    } value = { 0 };
    size_t bytes = 0;
    if (device->cl->GetKernelWorkGroupInfo(kernel->handle, device->id, what, sizeof value,
                                           &value, &bytes) != CL_SUCCESS)
        return 0;
    return bytes == sizeof value.u32 ? value.u32 : value.u64;
}

// NVIDIA's log says "Used 32 registers".
static kallima_status find_registers(struct ocl_kernel *kernel)
{
    char *log;
    KAL_TRY(build_log(kernel, &log));
    const char *used = strstr(log, "Used ");
    if (used)
        sscanf(used, "Used %d registers", &kernel->facts.registers);
    kal_free(&kernel->base.device->host, log);
    return KALLIMA_OK;
}

static kallima_status find_facts(struct ocl_kernel *kernel, uint64_t dynamic_bytes,
                                 const struct kal_binary *binary)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    const uint64_t own_bytes = kernel_number(kernel, CL_KERNEL_LOCAL_MEM_SIZE) & ~3ull;
    kernel->facts = (struct kal_kernel_facts){
        .registers = -1,
        .spill_bytes = -1,
        .group_bytes = (int64_t)(own_bytes + dynamic_bytes),
        .groups_per_processor = -1,
    };
    if (!device->nvidia_sm)
        return KALLIMA_OK;
    kernel->facts.spill_bytes = (int)kernel_number(kernel, CL_KERNEL_PRIVATE_MEM_SIZE);
    if (binary)
        kal_ocl_ptx_read_facts(binary, &kernel->facts);
    return kernel->facts.registers > 0 ? KALLIMA_OK : find_registers(kernel);
}

// NVIDIA's compiler keeps the first word for itself, so that nothing is at address 0. Its
// driver gives a launch no more than it tells of: that is for kernels that declare it.
static uint64_t most_bytes(const struct ocl_device *device, bool is_dynamic)
{
    enum { KEPT_BYTES = 4 };
    const uint64_t most = device->base.caps.group_bytes;
    if (!device->nvidia_sm)
        return most;
    const uint64_t told =
        kal_ocl_number(device->cl, device->id, CL_DEVICE_LOCAL_MEM_SIZE);
    return is_dynamic ? (uint64_t)kal_min((int64_t)most, (int64_t)told) - KEPT_BYTES
                      : most + KEPT_BYTES;
}

// Most work-items of a group. A kernel that was compiled for its number has as many as that
// (what NVIDIA's driver says beside it, 256, does not hold); else it is what is told.
static int64_t most_lanes(const struct ocl_kernel *kernel)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    const int64_t here = device->base.caps.group_lanes;
    const int64_t told = (int64_t)kernel_number(kernel, CL_KERNEL_WORK_GROUP_SIZE);
    size_t required[3] = { 0 };
    device->cl->GetKernelWorkGroupInfo(kernel->handle, device->id,
                                       CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                                       required, NULL);
    return told == 0 || required[0] == (size_t)kernel->base.lanes ? here
                                                                  : kal_min(told, here);
}

// A kernel that compiles may still be too large to run.
static kallima_status check_limits(const struct ocl_kernel *kernel, const char *name,
                                   bool is_dynamic)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    const struct kal_host *host = &device->base.host;
    const int64_t lanes = most_lanes(kernel);
    const uint64_t bytes = most_bytes(device, is_dynamic);

    if (kernel->base.lanes > lanes)
        return kal_fail(host, KALLIMA_E_COMPILE,
                        "opencl: kernel %s: %d work-items of a group; here it can have "
                        "%lld",
                        name, kernel->base.lanes, (long long)lanes);
    if ((uint64_t)kernel->facts.group_bytes > bytes)
        return kal_fail(host, KALLIMA_E_COMPILE,
                        "opencl: kernel %s: %lld bytes of local memory; here it can have "
                        "%llu",
                        name, (long long)kernel->facts.group_bytes,
                        (unsigned long long)bytes);
    return KALLIMA_OK;
}

// Where our device stands among those of the program; -1: nowhere. A program is made for
// every device of its context.
static int place_in_program(const struct ocl_kernel *kernel, size_t *count)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    cl_device_id ids[OCL_MAX_DEVICES];
    size_t bytes = 0;
    if (device->cl->GetProgramInfo(kernel->program, CL_PROGRAM_DEVICES, sizeof ids, ids,
                                   &bytes) != CL_SUCCESS)
        return -1;
    *count = bytes / sizeof ids[0];
    int place = (int)*count - 1;
    while (place >= 0 && ids[place] != device->id)
        place--;
    return place;
}

// The program's binary and a zero behind it; *made stays empty where the driver gives none.
static kallima_status take_binary(const struct ocl_kernel *kernel,
                                  struct kal_binary *made)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    const struct kal_host *host = &device->base.host;
    size_t sizes[OCL_MAX_DEVICES] = { 0 }, count = 0;
    unsigned char *data[OCL_MAX_DEVICES] = { NULL };
    const int place = place_in_program(kernel, &count);
    void *memory;

    if (place < 0 ||
        device->cl->GetProgramInfo(kernel->program, CL_PROGRAM_BINARY_SIZES,
                                   count * sizeof sizes[0], sizes, NULL) != CL_SUCCESS ||
        sizes[place] == 0)
        return KALLIMA_OK;
    KAL_TRY(kal_alloc_object(host, &memory, sizes[place] + 1));
    data[place] = memory;
    if (device->cl->GetProgramInfo(kernel->program, CL_PROGRAM_BINARIES,
                                   count * sizeof data[0], data, NULL) != CL_SUCCESS) {
        kal_free(host, memory);
        return KALLIMA_OK;
    }
    *made = (struct kal_binary){ memory, sizes[place] };
    return KALLIMA_OK;
}

// Memory that the text does not declare is the last argument, the same in every launch.
static kallima_status set_dynamic(const struct ocl_kernel *kernel, uint64_t bytes)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    if (bytes > 0)
        OCL_TRY(device, SetKernelArg, kernel->handle, (cl_uint)(2 * kernel->slots),
                (size_t)bytes, NULL);
    return KALLIMA_OK;
}

static kallima_status fill_in(struct ocl_kernel *kernel,
                              const struct kal_kernel_text *text,
                              const struct kal_binary *binary)
{
    KAL_TRY(make_program(kernel, text, binary));
    KAL_TRY(build(kernel, text));
    KAL_TRY(find_facts(kernel, text->group_bytes, binary));
    KAL_TRY(check_limits(kernel, text->name, text->group_bytes > 0));
    return set_dynamic(kernel, text->group_bytes);
}

static void drop(struct ocl_kernel *kernel)
{
    const struct ocl_device *device = (const struct ocl_device *)kernel->base.device;
    if (kernel->handle)
        device->cl->ReleaseKernel(kernel->handle);
    if (kernel->program)
        device->cl->ReleaseProgram(kernel->program);
    kernel->handle = NULL;
    kernel->program = NULL;
}

// --- NVIDIA's, through PTX ---------------------------------------------------------------

// Compile PTX in place of what there is; *is_made: it was.
static kallima_status compile_ptx(struct ocl_kernel *kernel,
                                  const struct kal_kernel_text *text,
                                  const struct kal_binary *ptx, bool *is_made)
{
    struct ocl_kernel made = *kernel;
    struct kal_binary fresh;

    *is_made = false;
    KAL_TRY(kal_ocl_ptx_afresh(&fresh, &kernel->base.device->host, ptx));
    if (!fresh.data)
        return KALLIMA_OK;
    made.program = NULL;
    made.handle = NULL;
    const kallima_status status = fill_in(&made, text, &fresh);
    kal_free(&kernel->base.device->host, fresh.data);
    *is_made = status == KALLIMA_OK;
    drop(*is_made ? kernel : &made);
    if (*is_made)
        *kernel = made;
    return status == KALLIMA_E_COMPILE ? KALLIMA_OK : status;
}

// The one that knows how many groups a processor shall hold, unless its lanes have too few
// registers for that, and the other one leaves room for nearly as many.
static bool is_better(const struct ocl_kernel *told, const struct ocl_kernel *kernel,
                      int resident)
{
    return told->facts.spill_bytes <= kernel->facts.spill_bytes ||
           kal_groups_of_registers(kernel->base.lanes, kernel->facts.registers) <
               resident - 1;
}

// Compile once more with what only PTX says, from *ptx; if that is better, *ptx is what it was
// compiled from. Where the driver has kept the first compilation, and so does not tell of its
// registers, that is done again too, if they matter.
static kallima_status compile_for_groups(struct ocl_kernel *kernel,
                                         const struct kal_kernel_text *text,
                                         struct kal_binary *ptx)
{
    const struct kal_host *host = &kernel->base.device->host;
    struct ocl_kernel told = *kernel;
    struct kal_binary more = { NULL, 0 };
    bool is_made = false, is_again;

    told.program = NULL;
    told.handle = NULL;
    KAL_TRY(kal_ocl_ptx_for_groups(&more, host, ptx, text->resident));
    kallima_status status = KALLIMA_OK;
    if (more.data)
        status = compile_ptx(&told, text, &more, &is_made);
    const bool is_asked = !is_made || told.facts.spill_bytes > 0;
    if (!status && is_asked && kernel->facts.registers < 0)
        status = compile_ptx(kernel, text, ptx, &is_again);
    const bool is_taken = !status && is_made && is_better(&told, kernel, text->resident);
    drop(is_taken ? kernel : &told);
    if (is_taken) {
        *kernel = told;
        kal_free(host, ptx->data);
        *ptx = more;
    } else {
        kal_free(host, more.data);
    }
    return status;
}

// A kernel that was compiled from source: again from its PTX. *made (NULL: not wanted) is what
// to compile the next time.
static kallima_status refine(struct ocl_kernel *kernel,
                             const struct kal_kernel_text *text, struct kal_binary *made)
{
    const struct kal_host *host = &kernel->base.device->host;
    struct kal_binary ptx = { NULL, 0 };
    bool is_again;

    KAL_TRY(take_binary(kernel, &ptx));
    if (!ptx.data)
        return KALLIMA_OK;
    kallima_status status = KALLIMA_OK;
    if (text->resident > 0)
        status = compile_for_groups(kernel, text, &ptx);
    else if (kernel->facts.registers < 0)
        status = compile_ptx(kernel, text, &ptx, &is_again);
    if (!status && made)
        status = kal_ocl_ptx_with_facts(made, host, &ptx, &kernel->facts);
    kal_free(host, ptx.data);
    return status;
}

// Compilers are not for several threads at once everywhere, whatever the standard says: with
// fifteen of them a program crashed under NVIDIA's driver 580.159.04.
static pthread_mutex_t compiler = PTHREAD_MUTEX_INITIALIZER;

kallima_status kal_ocl_kernel_create(struct kal_device_kernel **out, kallima_device *base,
                                     const struct kal_kernel_text *text,
                                     const struct kal_binary *binary,
                                     struct kal_binary *made)
{
    void *object;
    KAL_TRY(kal_kernel_check(base, text));
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct ocl_kernel)));
    struct ocl_kernel *kernel = object;
    const bool is_nvidia = ((const struct ocl_device *)base)->nvidia_sm > 0;
    kernel->base.device = base;
    kernel->base.lanes = text->lanes;
    kernel->slots = text->slots;
    pthread_mutex_lock(&compiler);
    kallima_status status = fill_in(kernel, text, binary);
    if (status == KALLIMA_OK && !binary && is_nvidia)
        status = refine(kernel, text, made);
    else if (status == KALLIMA_OK && !binary && made)
        status = take_binary(kernel, made);
    pthread_mutex_unlock(&compiler);
    if (status) {
        kal_ocl_kernel_destroy(&kernel->base);
        return status;
    }
    *out = &kernel->base;
    return KALLIMA_OK;
}

void kal_ocl_kernel_destroy(struct kal_device_kernel *base)
{
    struct ocl_kernel *kernel = (struct ocl_kernel *)base;
    pthread_mutex_lock(&compiler);
    drop(kernel);
    pthread_mutex_unlock(&compiler);
    kal_free(&base->device->host, kernel);
}

void kal_ocl_kernel_describe(const struct kal_device_kernel *kernel,
                             struct kal_kernel_facts *facts)
{
    *facts = ((const struct ocl_kernel *)kernel)->facts;
}
