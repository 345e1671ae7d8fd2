// SPDX-License-Identifier: MIT
// Work into the queue: kernels and zeros, one after the other.
#include "device/opengl/driver.h"

static void set_uniform(const struct gl_kernel *kernel, const struct gl_api *gl,
                        int location, unsigned value)
{
    if (kernel->uniforms >> location & 1u)
        gl->Uniform1ui(location, value);
}

static void dispatch(const struct gl_device *device, const struct gl_kernel *kernel,
                     uint64_t groups)
{
    struct kal_groups parts[2];
    const int count = kal_split_groups(parts, groups, device->base.caps.row_groups);
    for (int i = 0; i < count; i++) {
        set_uniform(kernel, device->gl, GL_FIRST_GROUP, parts[i].first);
        device->gl->DispatchCompute(parts[i].width, parts[i].rows, 1);
    }
}

// A kernel sees a buffer from an aligned place on, and the few bytes left are its offset: so
// offsets of any size fit 32 bits, and all of a large buffer can be reached.
static void bind_slot(const struct gl_device *device, const struct gl_kernel *kernel,
                      int slot, struct kal_memory memory)
{
    const struct gl_buffer *buffer = memory.object;
    if (kal_gl_takes_pointers(device)) {
        if (kernel->uniforms >> slot & 1u)
            device->gl->Uniformui64NV(slot, buffer->address + memory.offset);
        return;
    }
    const uint64_t rest = memory.offset % device->bound_offset;
    const uint64_t first = memory.offset - rest;
    const uint64_t bytes = buffer->object_bytes - first;

    device->gl->BindBufferRange(
        GL_SHADER_STORAGE_BUFFER, (unsigned)slot, buffer->name, (ptrdiff_t)first,
        (ptrdiff_t)(bytes < device->bound_bytes ? bytes : device->bound_bytes));
    set_uniform(kernel, device->gl, slot, (unsigned)rest);
}

static void launch(const struct gl_device *device, const struct kal_work *work)
{
    const struct gl_kernel *kernel = (const struct gl_kernel *)work->kernel;

    device->gl->UseProgram(kernel->program);
    for (int i = 0; i < kernel->slots; i++)
        bind_slot(device, kernel, i, work->slot[i]);
    dispatch(device, kernel, work->groups);
}

// OpenGL ES takes zeros from the host only.
static void write_zeros(const struct gl_device *device, const struct kal_work *work)
{
    static const char zeros[4096];
    uint64_t part;
    for (uint64_t done = 0; done < work->fill_bytes; done += part) {
        part = work->fill_bytes - done;
        part = part < sizeof zeros ? part : sizeof zeros;
        device->gl->BufferSubData(GL_COPY_WRITE_BUFFER,
                                  (ptrdiff_t)(work->slot[0].offset + done),
                                  (ptrdiff_t)part, zeros);
    }
}

static void fill(const struct gl_device *device, const struct kal_work *work)
{
    const struct gl_buffer *buffer = work->slot[0].object;
    device->gl->BindBuffer(GL_COPY_WRITE_BUFFER, buffer->name);
    if (device->display.is_es) {
        write_zeros(device, work);
        return;
    }
    device->gl->ClearBufferSubData(
        GL_COPY_WRITE_BUFFER, GL_R32UI, (ptrdiff_t)work->slot[0].offset,
        (ptrdiff_t)work->fill_bytes, GL_RED_INTEGER, GL_UNSIGNED_INT, NULL);
}

// Each sees what the one before it wrote, and so does what comes behind them.
void kal_gl_issue(const struct gl_device *device, const struct kal_work *work)
{
    const unsigned stores = kal_gl_takes_pointers(device)
                                ? GL_SHADER_GLOBAL_ACCESS_BARRIER_BIT_NV
                                : GL_SHADER_STORAGE_BARRIER_BIT;
    (work->kernel ? launch : fill)(device, work);
    device->gl->MemoryBarrier(stores | GL_BUFFER_UPDATE_BARRIER_BIT);
}

static kallima_status issue_here(struct gl_device *device, const struct kal_work *work,
                                 int count)
{
    KAL_TRY(kal_gl_begin(device));
    for (int i = 0; i < count; i++)
        kal_gl_issue(device, &work[i]);
    return kal_gl_end(device, kal_gl_check(device, "glDispatchCompute"));
}

kallima_status kal_gl_enqueue(kallima_device *base, const struct kal_work *work,
                              int count, const struct kal_sync *sync)
{
    struct gl_device *device = (struct gl_device *)base;
    KAL_TRY(kal_events_refuse(base, sync));
    KAL_TRY(kal_work_check(
        base, work, count,
        kal_most_groups((uint64_t)base->caps.row_groups, (uint64_t)device->most_rows)));
    return (device->worker ? kal_gl_post_work : issue_here)(device, work, count);
}
