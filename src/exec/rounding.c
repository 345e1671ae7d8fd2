// SPDX-License-Identifier: MIT
#include "exec/rounding.h"

#include "base/text.h"
#include "emit/probe.h"
#include "exec/kernel_program.h"

static kallima_status compile(struct kal_device_kernel **out, kallima_device *device,
                              bool is_f64)
{
    struct kal_text text;
    kal_text_init(&text, &device->host);
    kal_emit_fma_probe(&text, kal_device_dialect(device), is_f64, "probe");
    const struct kal_kernel_text source = { .name = "probe",
                                            .text = text.data,
                                            .lanes = 1,
                                            .cluster = 1,
                                            .slots = 2,
                                            .named = 3,
                                            .written = 2 };
    const kallima_status status =
        text.status ? text.status
                    : device->ops->kernel_create(out, device, &source, NULL, NULL);
    kal_text_clear(&text);
    return status;
}

// What a device needs to run the probe; all of it may be NULL.
struct probe {
    struct kal_device_kernel *kernel;
    kallima_buffer *in, *out;
};

static kallima_status run(struct probe *p, kallima_device *device, const void *numbers,
                          uint64_t bytes, void *result)
{
    const struct kal_device_ops *ops = device->ops;
    KAL_TRY(ops->buffer_create(&p->in, device, 3 * bytes));
    KAL_TRY(ops->buffer_create(&p->out, device, bytes));
    KAL_TRY(ops->buffer_write(p->in, 0, numbers, 3 * bytes));
    const struct kal_work work = { .kernel = p->kernel,
                                   .groups = 1,
                                   .slot = { p->in->memory, p->out->memory } };
    KAL_TRY(ops->enqueue(device, &work, 1, NULL));
    return ops->buffer_read(p->out, 0, result, bytes);
}

static void clear(struct probe *p, const struct kal_device_ops *ops)
{
    if (p->out)
        ops->buffer_destroy(p->out);
    if (p->in)
        ops->buffer_destroy(p->in);
    if (p->kernel)
        ops->kernel_destroy(p->kernel);
}

// (1 + e)(1 - e) - 1 is -e * e; where the product is rounded first, to 1, it is 0.
kallima_status kal_rounding_find(kallima_device *device, bool is_f64, int *fma_roundings)
{
    static const float f32[3] = { 1.0f + 0x1p-13f, 1.0f - 0x1p-13f, -1.0f };
    static const double f64[3] = { 1.0 + 0x1p-28, 1.0 - 0x1p-28, -1.0 };
    struct probe p = { NULL, NULL, NULL };
    float result_f32 = -1.0f;
    double result_f64 = -1.0;

    kallima_status status = compile(&p.kernel, device, is_f64);
    if (!status)
        status = is_f64 ? run(&p, device, f64, sizeof f64[0], &result_f64)
                        : run(&p, device, f32, sizeof f32[0], &result_f32);
    clear(&p, device->ops);
    KAL_TRY(status);
    *fma_roundings = (is_f64 ? result_f64 : (double)result_f32) == 0.0 ? 2 : 1;
    return KALLIMA_OK;
}
