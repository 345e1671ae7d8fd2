// SPDX-License-Identifier: MIT
// What is special to Direct3D 11, on the first device present. Its operations:
// device/operations.c.
#include "device/d3d11/driver.h"

#include <kallima/interop/d3d11.h>
#include <kallima/kallima.h>
#include <stdio.h>
#include <string.h>

#include "../jobs.h"
#include "../rows.h"

static struct counting counting;

static void look(const kallima_device *device, const kallima_device_info *info)
{
    const struct kal_caps *caps = &device->caps;
    ROW_CHECK(caps->language == KAL_LANGUAGE_HLSL && caps->kernel_slots == 8);
    ROW_CHECK(caps->group_lanes == 1024 && caps->group_bytes == 32768);
    ROW_CHECK(caps->buffer_bytes == INT32_MAX && caps->has_f64 == info->has_f64);
    ROW_CHECK(strncmp(info->driver, "Direct3D 11", 11) == 0);
}

static void limits_are_those_of_level_11_0(void **state)
{
    (void)state;
    job_each_device("d3d11", look);
    ROWS_FINISH();
}

static uint64_t most_bytes(const kallima_device *device)
{
    return device->caps.buffer_bytes;
}

static void large_buffers_are_refused_with_both_numbers(void **state)
{
    (void)state;
    job_check_largest("d3d11", most_bytes);
    ROWS_FINISH();
}

static void kernels_do_not_tell_what_they_take(void **state)
{
    (void)state;
    job_check_no_facts("d3d11");
    ROWS_FINISH();
}

// Direct3D would silently drop the second of two views that write.
static void arrays_in_one_object_are_refused(void **state)
{
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];
    kallima_device *device = job_open("d3d11", &counting);

    (void)state;
    job_ramp(x, JOB_NUMBERS, 1);
    // Ahead of the compiler: Wine 8's Direct3D sleeps through the first write to a device
    // that had nothing to do for so long, in up to nine of ten runs, and what waits for
    // it waits for ever.
    kallima_buffer *a = job_upload(device, x, sizeof x);
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(a, 400), 1) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "one ID3D11Buffer"));
    ROW_CHECK(kallima_buffer_read(a, 0, y, sizeof y) == KALLIMA_OK);
    ROW_CHECK(memcmp(x, y, sizeof x) == 0);
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    ROWS_FINISH();
}

// Longer than what the host reads at once; and Direct3D copies nothing within one object.
static void long_buffers_are_read_and_copied_in_pieces(void **state)
{
    enum { WORDS = (9 << 20) / 4 + 3, HALF = WORDS / 2 };
    kallima_device *device = job_open("d3d11", &counting);
    uint32_t *x = malloc(4 * WORDS), *y = malloc(4 * WORDS);

    (void)state;
    job_ramp(x, WORDS, 2654435761u);
    memset(y, 0, 4 * WORDS);
    kallima_buffer *a = job_upload(device, x, 4 * WORDS);
    ROW_CHECK(kallima_buffer_read(a, 4, y, 4 * WORDS - 4) == KALLIMA_OK);
    ROW_CHECK(memcmp(x + 1, y, 4 * WORDS - 4) == 0);
    ROW_CHECK(kallima_buffer_copy(a, 4 * (HALF + 1), a, 0, 4 * HALF) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 0, y, 4 * WORDS) == KALLIMA_OK);
    ROW_CHECK(memcmp(x, y, 4 * (HALF + 1)) == 0);
    ROW_CHECK(memcmp(x, y + HALF + 1, 4 * HALF) == 0);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    free(x);
    free(y);
    ROWS_FINISH();
}

// --- the caller's own objects ---------------------------------------------------------------

struct own {
    ID3D11Device *device;
    ID3D11DeviceContext *context;
};

static void own_init(struct own *own)
{
    assert_true(SUCCEEDED(kal_d3d_create(kal_d3d_api(), kal_d3d_adapter(0)->adapter,
                                         &own->device, &own->context)));
}

// The caller's are the last owners again.
static void own_clear(struct own *own)
{
    ID3D11DeviceContext_Release(own->context);
    ROW_CHECK(ID3D11Device_Release(own->device) == 0);
}

static kallima_device *adopt(const struct own *own)
{
    const kallima_device_options o = job_options(&counting);
    kallima_device *device = NULL;
    if (kallima_d3d11_adopt(&device, own->device, own->context, &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

static ID3D11Buffer *make_object(const struct own *own, UINT bytes, UINT views)
{
    const D3D11_BUFFER_DESC desc = {
        .ByteWidth = bytes,
        .BindFlags = views,
        .MiscFlags = D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS,
    };
    ID3D11Buffer *object = NULL;
    assert_true(SUCCEEDED(ID3D11Device_CreateBuffer(own->device, &desc, NULL, &object)));
    return object;
}

enum { VIEWS = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_UNORDERED_ACCESS };

static void adopted_devices_compute(void **state)
{
    struct own own;
    (void)state;
    own_init(&own);
    kallima_device *device = adopt(&own);
    job_check_offsets(device);
    job_check_callers(device);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
    ROWS_FINISH();
}

// Ranges within a buffer are from the start of what is wrapped; the rest of the object stays.
static void wrapped_buffers_are_used_from_their_offset(void **state)
{
    enum { SHIFT = 20 };
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];
    struct own own;
    kallima_buffer *whole = NULL, *part = NULL;

    (void)state;
    own_init(&own);
    kallima_device *device = adopt(&own);
    ID3D11Buffer *object = make_object(&own, sizeof x, VIEWS);
    ROW_CHECK(kallima_d3d11_wrap(&whole, device, object, 0, sizeof x) == KALLIMA_OK);
    ROW_CHECK(kallima_d3d11_wrap(&part, device, object, 4 * SHIFT, 4 * JOB_LANES) ==
              KALLIMA_OK);
    job_ramp(x, JOB_NUMBERS, 1);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    ROW_CHECK(kallima_buffer_write(whole, 0, x, sizeof x) == KALLIMA_OK);
    ROW_CHECK(job_run(kernel, job_at(a, 400), job_at(part, 0), 1) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(whole, 0, y, sizeof y) == KALLIMA_OK);
    for (uint32_t i = 0; i < JOB_NUMBERS; i++) {
        const bool is_in = i >= SHIFT && i < SHIFT + JOB_LANES;
        ROW_CHECK(y[i] == i + (is_in ? 2 * (i - SHIFT + 100) : 0));
    }
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device); // its buffers keep it
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&whole);
    kallima_buffer_destroy(&part);
    ROW_CHECK(counting.live == 0);
    ID3D11Buffer_Release(object);
    own_clear(&own);
    ROWS_FINISH();
}

static void foreign_devices_are_refused(void **state)
{
    struct own own, other;
    kallima_device *device = NULL;

    (void)state;
    own_init(&own);
    own_init(&other);
    ROW_CHECK(kallima_d3d11_adopt(NULL, own.device, own.context, NULL) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_d3d11_adopt(&device, NULL, own.context, NULL) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_d3d11_adopt(&device, own.device, NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_d3d11_adopt(&device, own.device, other.context, NULL) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(device == NULL && strstr(kallima_last_error(), "another device"));
    own_clear(&own);
    own_clear(&other);
    ROWS_FINISH();
}

static void wrong_buffers_are_refused(void **state)
{
    struct own own, other;
    kallima_device *null = NULL;
    kallima_buffer *buffer = NULL;

    (void)state;
    own_init(&own);
    own_init(&other);
    kallima_device *device = adopt(&own);
    ROW_CHECK(kallima_device_open(&null, "null", NULL) == KALLIMA_OK);
    ID3D11Buffer *mine = make_object(&own, 4000, VIEWS);
    ID3D11Buffer *unseen = make_object(&own, 4000, D3D11_BIND_SHADER_RESOURCE);
    ID3D11Buffer *theirs = make_object(&other, 4000, VIEWS);
    const struct {
        kallima_device *device;
        ID3D11Buffer *object;
        uint64_t offset, bytes;
        const char *said;
    } rows[] = {
        { device, mine, 8, 64, "offset_bytes = 8" },
        { device, mine, 0, 0, "0 bytes from 0" },
        { device, mine, 0, 4001, "4001 bytes from 0" },
        { device, mine, 4000, 1, "has 4000" },
        { device, mine, 16, UINT64_MAX, "from 16" },
        { device, unseen, 0, 64, "D3D11_BIND_UNORDERED_ACCESS" },
        { device, theirs, 0, 64, "another device" },
        { null, mine, 0, 64, "\"null\"" },
        { NULL, mine, 0, 64, "device" },
        { device, NULL, 0, 64, "memory" },
    };
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        ROW_CHECK(kallima_d3d11_wrap(&buffer, rows[i].device, rows[i].object,
                                     rows[i].offset,
                                     rows[i].bytes) == KALLIMA_E_ARGUMENT);
        ROW_CHECK(buffer == NULL && strstr(kallima_last_error(), rows[i].said));
    }
    ID3D11Buffer_Release(mine);
    ID3D11Buffer_Release(unseen);
    ID3D11Buffer_Release(theirs);
    kallima_device_close(&null);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
    own_clear(&other);
    ROWS_FINISH();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_level_11_0),
        cmocka_unit_test(large_buffers_are_refused_with_both_numbers),
        cmocka_unit_test(kernels_do_not_tell_what_they_take),
        cmocka_unit_test(arrays_in_one_object_are_refused),
        cmocka_unit_test(long_buffers_are_read_and_copied_in_pieces),
        cmocka_unit_test(adopted_devices_compute),
        cmocka_unit_test(wrapped_buffers_are_used_from_their_offset),
        cmocka_unit_test(foreign_devices_are_refused),
        cmocka_unit_test(wrong_buffers_are_refused),
    };
    if (!kal_d3d_adapter(0)) {
        puts("no device of Direct3D 11 is present");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
