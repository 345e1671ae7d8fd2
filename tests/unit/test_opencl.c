// SPDX-License-Identifier: MIT
// What is special to OpenCL, on the first device present. Its operations: device/operations.c.
#include <dlfcn.h>
#include <kallima/interop/opencl.h>
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../jobs.h"
#include "../rows.h"
#include "device/opencl/driver.h"

static struct counting counting;

// What the library itself has no use for.
static struct {
    cl_event (*create)(cl_context, cl_int *);
    cl_int (*set)(cl_event, cl_int);
    cl_int (*info)(cl_event, cl_event_info, size_t, void *, size_t *);
} events;

// Turns the lanes of a group around, in memory that the launch brings.
static const struct kal_kernel_text REVERSE = {
    .name = "reverse",
    .text = "__kernel void reverse(__global char *x, ulong x_bytes, __local uint *near)\n"
            "{\n"
            "    __global uint *a = (__global uint *)(x + x_bytes);\n"
            "    const int i = get_local_id(0), n = get_local_size(0);\n"
            "    const int first = get_group_id(0) * n;\n"
            "    near[i] = a[first + i];\n"
            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    a[first + i] = near[n - 1 - i];\n"
            "}\n",
    .lanes = JOB_LANES,
    .group_bytes = JOB_LANES * sizeof(uint32_t),
    .slots = 1,
};

static const struct kal_kernel_text LARGE = {
    .name = "large",
    .text = "__kernel void large(__global char *x, ulong x_bytes)\n"
            "{\n"
            "    __local float near[2048];\n"
            "    const int i = get_local_id(0);\n"
            "    near[i] = i;\n"
            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    ((__global float *)(x + x_bytes))[i] = near[i ^ 1];\n"
            "}\n",
    .lanes = 8,
    .slots = 1,
};

static void look(const kallima_device *device, const kallima_device_info *info)
{
    const struct kal_caps *caps = &device->caps;
    ROW_CHECK(caps->language == KAL_LANGUAGE_OPENCL && info->memory_bytes > 0);
    ROW_CHECK(caps->group_lanes >= 64 && caps->group_bytes >= 16384);
    ROW_CHECK(!info->is_software ||
              (caps->group_lanes <= 1024 && caps->group_bytes <= 65536));
}

static void limits_are_those_of_a_gpu(void **state)
{
    (void)state;
    job_each_device("opencl", look);
    ROWS_FINISH();
}

static void kernels_tell_what_they_take(void **state)
{
    kallima_device *device = job_open("opencl", &counting);
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    struct kal_kernel_facts facts;

    (void)state;
    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.group_bytes == 0 && facts.registers != 0);
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void group_memory_comes_with_the_launch(void **state)
{
    uint32_t x[JOB_NUMBERS];
    kallima_device *device = job_open("opencl", &counting);
    struct kal_device_kernel *kernel = job_compile_text(device, &REVERSE);
    struct kal_kernel_facts facts;

    (void)state;
    job_ramp(x, JOB_NUMBERS, 1);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    for (int times = 0; times < 3; times++)
        ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(a, 0), JOB_NUMBERS / JOB_LANES) ==
                  KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_OK);
    for (uint32_t i = 0; i < JOB_NUMBERS; i++)
        ROW_CHECK(x[i] == i / JOB_LANES * JOB_LANES + JOB_LANES - 1 - i % JOB_LANES);
    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.group_bytes == JOB_LANES * sizeof(uint32_t));
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static uint64_t most_bytes(const kallima_device *device)
{
    return ((const struct ocl_device *)device)->buffer_bytes;
}

static void large_buffers_are_refused_with_both_numbers(void **state)
{
    (void)state;
    job_check_largest("opencl", most_bytes);
    ROWS_FINISH();
}

// What a text declares itself is known when it is compiled.
static void kernels_with_too_much_memory_are_refused(void **state)
{
    kallima_device_options o = job_options(&counting);
    kallima_device *device = NULL;

    (void)state;
    o.limits.group_bytes = 4096;
    ROW_CHECK(kallima_device_open(&device, "opencl", &o) == KALLIMA_OK);
    ROW_CHECK(job_try(device, &LARGE, NULL) == KALLIMA_E_COMPILE);
    ROW_CHECK(strstr(kallima_last_error(), "large") &&
              strstr(kallima_last_error(), "bytes of local memory"));
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// The objects of a caller who uses OpenCL too.
struct own {
    const struct ocl_api *cl;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    bool is_eager; // oclgrind: a flush waits for the work
};

static struct own own_objects(cl_command_queue_properties properties)
{
    struct own own = { .cl = kal_ocl_api() };
    cl_device_id ids[OCL_MAX_DEVICES];
    cl_int code;
    assert_true(kal_ocl_list(own.cl, ids) > 0);
    kallima_device_info info;
    own.id = ids[0];
    kal_ocl_describe(own.cl, own.id, 0, &info);
    own.is_eager = strncmp(info.driver, "Oclgrind", 8) == 0;
    own.context = own.cl->CreateContext(NULL, 1, &own.id, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    own.queue = own.cl->CreateCommandQueue(own.context, own.id, properties, &code);
    assert_int_equal(code, CL_SUCCESS);
    return own;
}

static void release_own(const struct own *own)
{
    own->cl->ReleaseCommandQueue(own->queue);
    own->cl->ReleaseContext(own->context);
}

static cl_uint owners_of_queue(const struct own *own)
{
    cl_uint count = 0;
    own->cl->GetCommandQueueInfo(own->queue, CL_QUEUE_REFERENCE_COUNT, sizeof count,
                                 &count, NULL);
    return count;
}

static cl_uint owners_of_memory(const struct own *own, cl_mem memory)
{
    cl_uint count = 0;
    own->cl->GetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
    return count;
}

static const cl_command_queue_properties KINDS_OF_QUEUE[] = {
    0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE
};

static void adopted_queues_keep_the_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(KINDS_OF_QUEUE); i++) {
        const struct own own = own_objects(KINDS_OF_QUEUE[i]);
        const bool has_times = KINDS_OF_QUEUE[i] & CL_QUEUE_PROFILING_ENABLE;
        const kallima_device_options o = job_options(&counting);
        kallima_device *device = NULL;
        kallima_timer *timer = NULL;

        ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) ==
                  KALLIMA_OK);
        ROW_CHECK(owners_of_queue(&own) == 2);
        kallima_device_close(&device); // before any work, whose events may keep the queue
        ROW_CHECK(owners_of_queue(&own) == 1);

        ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) ==
                  KALLIMA_OK);
        job_check_callers(device);
        ROW_CHECK(kallima_timer_create(&timer, device) ==
                  (has_times ? KALLIMA_OK : KALLIMA_E_UNSUPPORTED));
        ROW_CHECK(has_times || strstr(kallima_last_error(), "CL_QUEUE_PROFILING_ENABLE"));
        kallima_timer_destroy(&timer);
        kallima_device_close(&device);
        ROW_CHECK(counting.live == 0);
        release_own(&own);
    }
    ROWS_FINISH();
}

static cl_int state_of(cl_event event)
{
    cl_int code = CL_QUEUED;
    events.info(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof code, &code, NULL);
    return code;
}

// The caller's event holds back all of the work; the event of the work is of its end.
static void check_events(const struct own *own, kallima_device *device,
                         const kallima_buffer *a)
{
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    cl_int code;
    cl_event gate = events.create(own->context, &code), done = NULL;
    const struct kal_sync sync = { .wait_count = 1, .wait = &gate, .event = &done };
    const struct kal_work work[] = {
        { .slot = { job_at(a, 0) }, .fill_bytes = JOB_LANES * sizeof(uint32_t) },
        { .kernel = kernel, .groups = 1, .slot = { job_at(a, 400), job_at(a, 0) } },
        { .kernel = kernel, .groups = 1, .slot = { job_at(a, 400), job_at(a, 0) } },
    };

    if (own->is_eager)
        events.set(gate, CL_COMPLETE);
    ROW_CHECK(device->ops->enqueue(device, work, 3, &sync) == KALLIMA_OK);
    if (!own->is_eager) {
        ROW_CHECK(done && state_of(done) > CL_COMPLETE);
        ROW_CHECK(events.set(gate, CL_COMPLETE) == CL_SUCCESS);
    }
    ROW_CHECK(own->cl->WaitForEvents(1, &done) == CL_SUCCESS);
    own->cl->ReleaseEvent(done);
    done = NULL;
    ROW_CHECK(device->ops->enqueue(device, NULL, 0, &sync) == KALLIMA_OK);
    ROW_CHECK(done && own->cl->WaitForEvents(1, &done) == CL_SUCCESS);
    own->cl->ReleaseEvent(done);
    own->cl->ReleaseEvent(gate);
    device->ops->kernel_destroy(kernel);
}

static void wrapped_memory_is_used_from_its_offset(void **state)
{
    enum { SHIFT = 20 }; // numbers
    (void)state;
    for (size_t k = 0; k < KAL_COUNT(KINDS_OF_QUEUE); k++) {
        const struct own own = own_objects(KINDS_OF_QUEUE[k]);
        const kallima_device_options o = job_options(&counting);
        kallima_device *device = NULL;
        kallima_buffer *buffer = NULL;
        uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];
        cl_int code;

        job_ramp(x, JOB_NUMBERS, 1);
        const cl_mem memory = own.cl->CreateBuffer(
            own.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof x, x, &code);
        ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) ==
                  KALLIMA_OK);
        ROW_CHECK(kallima_opencl_wrap(&buffer, device, memory, 4 * SHIFT,
                                      sizeof x - 4 * SHIFT) == KALLIMA_OK);
        kallima_device_close(&device); // the buffer keeps it
        ROW_CHECK(owners_of_memory(&own, memory) == 2);
        check_events(&own, buffer->device, buffer);
        ROW_CHECK(kallima_buffer_read(buffer, 0, y, sizeof y - 4 * SHIFT) == KALLIMA_OK);
        for (uint32_t i = 0; i < JOB_NUMBERS - SHIFT; i++)
            ROW_CHECK(y[i] == (i < JOB_LANES ? 4 * (i + 100 + SHIFT) : i + SHIFT));
        kallima_buffer_destroy(&buffer);
        ROW_CHECK(counting.live == 0);
        own.cl->ReleaseMemObject(memory);
        release_own(&own);
    }
    ROWS_FINISH();
}

static void foreign_objects_are_refused(void **state)
{
    const struct own own = own_objects(0), other = own_objects(0);
    const kallima_device_options o = job_options(&counting);
    kallima_device *device = NULL, *cpu = NULL;
    kallima_buffer *buffer = NULL;
    kallima_plan *plan = NULL;
    cl_event event = NULL;
    cl_int code;
    const cl_mem mine =
        own.cl->CreateBuffer(own.context, CL_MEM_READ_WRITE, 4096, NULL, &code);
    const cl_mem theirs =
        own.cl->CreateBuffer(other.context, CL_MEM_READ_WRITE, 4096, NULL, &code);

    (void)state;
    ROW_CHECK(kallima_opencl_adopt(NULL, own.context, own.queue, &o) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_adopt(&device, NULL, own.queue, &o) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_adopt(&device, own.context, NULL, &o) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_adopt(&device, own.context, other.queue, &o) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(device == NULL && counting.live == 0);
    ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) == KALLIMA_OK);
    ROW_CHECK(kallima_device_open(&cpu, "cpu", &o) == KALLIMA_OK);

    const struct {
        kallima_device *device;
        cl_mem memory;
        uint64_t offset, bytes;
    } rows[] = {
        { NULL, mine, 0, 64 },      { device, NULL, 0, 64 },
        { cpu, mine, 0, 64 },       { device, theirs, 0, 64 },
        { device, mine, 0, 0 },     { device, mine, 8, 64 },
        { device, mine, 0, 4097 },  { device, mine, 4096, 16 },
        { device, mine, 8192, 16 }, { device, mine, 16, UINT64_MAX },
        { device, mine, 4032, 65 },
    };
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        ROW_CHECK(kallima_opencl_wrap(&buffer, rows[i].device, rows[i].memory,
                                      rows[i].offset,
                                      rows[i].bytes) == KALLIMA_E_ARGUMENT);
        ROW_CHECK(buffer == NULL && owners_of_memory(&own, mine) == 1);
    }
    const kallima_desc desc = { .rank = 1, .n = { 8 } };
    const kallima_device_arrays arrays = { 0 };
    ROW_CHECK(kallima_plan_create(&plan, cpu, &desc, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_opencl_execute(plan, &arrays, 0, NULL, &event) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_execute(plan, &arrays, 1, NULL, &event) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_execute(NULL, &arrays, 0, NULL, &event) ==
              KALLIMA_E_ARGUMENT);
    kallima_plan_destroy(&plan);
    kallima_device_close(&cpu);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own.cl->ReleaseMemObject(mine);
    own.cl->ReleaseMemObject(theirs);
    release_own(&own);
    release_own(&other);
    ROWS_FINISH();
}

static struct own lent; // to adopt()

static kallima_status adopt(kallima_device **out, const char *selector,
                            const kallima_device_options *options)
{
    (void)selector;
    return kallima_opencl_adopt(out, lent.context, lent.queue, options);
}

static void exhausted_memory_leaves_nothing(void **state)
{
    (void)state;
    lent = own_objects(CL_QUEUE_PROFILING_ENABLE);
    job_check_exhaustion(NULL, adopt);
    release_own(&lent);
    ROWS_FINISH();
}

static bool find_events(void)
{
    void *library = kal_ocl_api() ? dlopen("libOpenCL.so.1", RTLD_LAZY) : NULL;
    if (!library)
        return false;
    *(void **)&events.create = dlsym(library, "clCreateUserEvent");
    *(void **)&events.set = dlsym(library, "clSetUserEventStatus");
    *(void **)&events.info = dlsym(library, "clGetEventInfo");
    return events.create && events.set && events.info;
}

// What NVIDIA's compiler writes, shortened.
static void ptx_tells_the_groups_of_a_processor(void **state)
{
    (void)state;
    static const char ptx[] = ".version 9.0\n.entry k(\n.param .u64 k_0\n)\n"
                              ".reqntid 360, 1, 1\n{\nret;\n}\n";
    static const char limited[] = ".version 9.0\n.entry k(\n.param .u64 k_0\n)\n"
                                  ".minnctapersm 3\n.reqntid 360, 1, 1\n{\nret;\n}\n";
    const struct kal_host host = { .allocator = counting_allocator(&counting) };
    const struct kal_binary whole = { (void *)ptx, sizeof ptx };
    const struct kal_binary foreign = { (void *)"\177ELF\0.reqntid", 14 };
    struct kal_binary out;

    assert_int_equal(kal_ocl_ptx_for_groups(&out, &host, &whole, 3), KALLIMA_OK);
    assert_int_equal(out.bytes, sizeof limited);
    assert_memory_equal(out.data, limited, sizeof limited);
    kal_free(&host, out.data);
    assert_int_equal(kal_ocl_ptx_for_groups(&out, &host, &foreign, 3), KALLIMA_OK);
    assert_null(out.data);
    assert_int_equal(counting.live, 0);
}

static void ptx_keeps_what_the_compiler_told(void **state)
{
    (void)state;
    static const char ptx[] = ".version 9.0\n.entry k()\n{\nret;\n}\n";
    const struct kal_host host = { .allocator = counting_allocator(&counting) };
    const struct kal_binary whole = { (void *)ptx, sizeof ptx - 1 };
    const struct kal_binary foreign = { (void *)"\177ELF\0.version 9.0", 17 };
    const struct kal_kernel_facts told = { .registers = 128, .spill_bytes = 24 };
    struct kal_kernel_facts read = { .registers = -1, .spill_bytes = 8 };
    struct kal_binary out, again;

    kal_ocl_ptx_read_facts(&whole, &read);
    assert_true(read.registers == -1 && read.spill_bytes == 8);
    assert_int_equal(kal_ocl_ptx_with_facts(&out, &host, &whole, &told), KALLIMA_OK);
    kal_ocl_ptx_read_facts(&out, &read);
    assert_true(read.registers == 128 && read.spill_bytes == 24);
    assert_true(out.bytes > whole.bytes);
    assert_string_equal((const char *)out.data + out.bytes - whole.bytes, ptx);
    kal_free(&host, out.data);

    assert_int_equal(kal_ocl_ptx_afresh(&out, &host, &whole), KALLIMA_OK);
    assert_int_equal(kal_ocl_ptx_afresh(&again, &host, &whole), KALLIMA_OK);
    assert_string_not_equal(out.data, again.data);
    assert_string_equal((const char *)out.data + out.bytes - whole.bytes, ptx);
    kal_free(&host, out.data);
    kal_free(&host, again.data);
    assert_int_equal(kal_ocl_ptx_afresh(&out, &host, &foreign), KALLIMA_OK);
    assert_null(out.data);
    assert_int_equal(counting.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_a_gpu),
        cmocka_unit_test(kernels_tell_what_they_take),
        cmocka_unit_test(group_memory_comes_with_the_launch),
        cmocka_unit_test(large_buffers_are_refused_with_both_numbers),
        cmocka_unit_test(kernels_with_too_much_memory_are_refused),
        cmocka_unit_test(ptx_tells_the_groups_of_a_processor),
        cmocka_unit_test(ptx_keeps_what_the_compiler_told),
        cmocka_unit_test(adopted_queues_keep_the_order),
        cmocka_unit_test(wrapped_memory_is_used_from_its_offset),
        cmocka_unit_test(foreign_objects_are_refused),
        cmocka_unit_test(exhausted_memory_leaves_nothing),
    };
    cl_device_id ids[OCL_MAX_DEVICES];
    if (kal_ocl_list(kal_ocl_api(), ids) == 0 || !find_events()) {
        puts("no OpenCL device is present");
        return getenv("CI") ? EXIT_FAILURE : 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
