// SPDX-License-Identifier: MIT
// Buffers: objects of OpenGL, which kernels see as a whole.
#include "device/opengl/driver.h"

#include <string.h>

// Smaller ones would waste much of their last page.
static const uint64_t LEAST_SPARSE_BYTES = 1 << 20;

// Memory for the buffer that is bound: all pages, where they are given one by one.
static kallima_status give_memory(const struct gl_device *device, uint64_t bytes)
{
    const struct gl_api *gl = device->gl;
    if (!device->has_sparse || bytes < LEAST_SPARSE_BYTES) {
        gl->BufferData(GL_COPY_WRITE_BUFFER, (ptrdiff_t)bytes, NULL, GL_DYNAMIC_COPY);
        return kal_gl_check(device, "glBufferData");
    }
    gl->BufferStorage(GL_COPY_WRITE_BUFFER, (ptrdiff_t)bytes, NULL,
                      GL_SPARSE_STORAGE_BIT_ARB | GL_DYNAMIC_STORAGE_BIT);
    KAL_TRY(kal_gl_check(device, "glBufferStorage"));
    gl->BufferPageCommitmentARB(GL_COPY_WRITE_BUFFER, 0, (ptrdiff_t)bytes, GL_TRUE);
    return kal_gl_check(device, "glBufferPageCommitmentARB");
}

kallima_status kal_gl_buffer_create(kallima_buffer **out, kallima_device *base,
                                    uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)base;
    const struct gl_api *gl = device->gl;
    unsigned name = 0;
    void *object;

    if (bytes > device->bound_bytes)
        return kal_fail(&base->host, KALLIMA_E_MEMORY,
                        "opengl: a buffer of %llu bytes; kernels of this device reach "
                        "%llu",
                        (unsigned long long)bytes,
                        (unsigned long long)device->bound_bytes);
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct gl_buffer)));
    kallima_status status = kal_gl_begin(device);
    if (!status) {
        gl->GenBuffers(1, &name);
        gl->BindBuffer(GL_COPY_WRITE_BUFFER, name);
        status = give_memory(device, bytes);
        if (status)
            gl->DeleteBuffers(1, &name);
        status = kal_gl_end(device, status);
    }
    if (status) {
        kal_free(&base->host, object);
        return status;
    }
    struct gl_buffer *buffer = object;
    *buffer = (struct gl_buffer){
        .base = { .device = base, .bytes = bytes, .memory.object = buffer },
        .name = name,
        .object_bytes = bytes,
    };
    *out = &buffer->base;
    return KALLIMA_OK;
}

void kal_gl_buffer_destroy(kallima_buffer *base)
{
    struct gl_buffer *buffer = (struct gl_buffer *)base;
    struct gl_device *device = (struct gl_device *)base->device;
    if (!buffer->is_wrapped && kal_gl_begin(device) == KALLIMA_OK) {
        device->gl->DeleteBuffers(1, &buffer->name);
        kal_gl_end(device, KALLIMA_OK);
    }
    kal_free(&device->base.host, buffer);
}

// Bind a buffer for the host, and return where byte `offset` of it is in OpenGL's object.
static ptrdiff_t bind(const struct gl_device *device, unsigned target,
                      const kallima_buffer *buffer, uint64_t offset)
{
    device->gl->BindBuffer(target, ((const struct gl_buffer *)buffer)->name);
    return (ptrdiff_t)(buffer->memory.offset + offset);
}

kallima_status kal_gl_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                   const void *source, uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)buffer->device;
    KAL_TRY(kal_gl_begin(device));
    const ptrdiff_t at = bind(device, GL_COPY_WRITE_BUFFER, buffer, offset);
    device->gl->BufferSubData(GL_COPY_WRITE_BUFFER, at, (ptrdiff_t)bytes, source);
    return kal_gl_end(device, kal_gl_check(device, "glBufferSubData"));
}

// OpenGL ES has no other way.
static kallima_status read_mapped(const struct gl_device *device, ptrdiff_t at,
                                  void *target, uint64_t bytes)
{
    const void *source = device->gl->MapBufferRange(GL_COPY_READ_BUFFER, at,
                                                    (ptrdiff_t)bytes, GL_MAP_READ_BIT);
    if (!source)
        return kal_gl_fail(device, "glMapBufferRange", "no memory was mapped");
    memcpy(target, source, bytes);
    if (!device->gl->UnmapBuffer(GL_COPY_READ_BUFFER))
        return kal_gl_fail(device, "glUnmapBuffer", "the contents were lost");
    return kal_gl_check(device, "glMapBufferRange");
}

kallima_status kal_gl_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                  void *target, uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)buffer->device;
    KAL_TRY(kal_gl_begin(device));
    const ptrdiff_t at = bind(device, GL_COPY_READ_BUFFER, buffer, offset);
    if (device->display.is_es)
        return kal_gl_end(device, read_mapped(device, at, target, bytes));
    device->gl->GetBufferSubData(GL_COPY_READ_BUFFER, at, (ptrdiff_t)bytes, target);
    return kal_gl_end(device, kal_gl_check(device, "glGetBufferSubData"));
}

kallima_status kal_gl_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                  const kallima_buffer *source, uint64_t source_offset,
                                  uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)target->device;
    KAL_TRY(kal_gl_begin(device));
    const ptrdiff_t from = bind(device, GL_COPY_READ_BUFFER, source, source_offset);
    const ptrdiff_t to = bind(device, GL_COPY_WRITE_BUFFER, target, target_offset);
    device->gl->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, from, to,
                                  (ptrdiff_t)bytes);
    return kal_gl_end(device, kal_gl_check(device, "glCopyBufferSubData"));
}
