// SPDX-License-Identifier: MIT
// Buffers: objects of OpenGL, which kernels see as a whole.
#include "device/opengl/driver.h"

kallima_status kal_gl_buffer_create(kallima_buffer **out, kallima_device *base,
                                    uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)base;
    const struct gl_api *gl = device->gl;
    unsigned name = 0;
    void *object;

    if (bytes > base->caps.buffer_bytes)
        return kal_fail(&base->host, KALLIMA_E_MEMORY,
                        "opengl: a buffer of %llu bytes; kernels of this device reach "
                        "%llu",
                        (unsigned long long)bytes,
                        (unsigned long long)base->caps.buffer_bytes);
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(kallima_buffer)));
    kallima_status status = kal_gl_begin(device);
    if (!status) {
        gl->GenBuffers(1, &name);
        gl->BindBuffer(GL_COPY_WRITE_BUFFER, name);
        gl->BufferData(GL_COPY_WRITE_BUFFER, (ptrdiff_t)bytes, NULL, GL_DYNAMIC_COPY);
        status = kal_gl_check(device, "glBufferData");
        if (status)
            gl->DeleteBuffers(1, &name);
        status = kal_gl_end(device, status);
    }
    if (status) {
        kal_free(&base->host, object);
        return status;
    }
    *out = object;
    **out = (kallima_buffer){ .device = base,
                              .bytes = bytes,
                              .memory.object = (void *)(uintptr_t)name };
    return KALLIMA_OK;
}

void kal_gl_buffer_destroy(kallima_buffer *buffer)
{
    struct gl_device *device = (struct gl_device *)buffer->device;
    const unsigned name = kal_gl_name(buffer->memory);
    if (kal_gl_begin(device) == KALLIMA_OK) {
        device->gl->DeleteBuffers(1, &name);
        kal_gl_end(device, KALLIMA_OK);
    }
    kal_free(&device->base.host, buffer);
}

kallima_status kal_gl_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                   const void *source, uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)buffer->device;
    KAL_TRY(kal_gl_begin(device));
    device->gl->BindBuffer(GL_COPY_WRITE_BUFFER, kal_gl_name(buffer->memory));
    device->gl->BufferSubData(GL_COPY_WRITE_BUFFER, (ptrdiff_t)offset, (ptrdiff_t)bytes,
                              source);
    return kal_gl_end(device, kal_gl_check(device, "glBufferSubData"));
}

kallima_status kal_gl_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                  void *target, uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)buffer->device;
    KAL_TRY(kal_gl_begin(device));
    device->gl->BindBuffer(GL_COPY_READ_BUFFER, kal_gl_name(buffer->memory));
    device->gl->GetBufferSubData(GL_COPY_READ_BUFFER, (ptrdiff_t)offset, (ptrdiff_t)bytes,
                                 target);
    return kal_gl_end(device, kal_gl_check(device, "glGetBufferSubData"));
}

kallima_status kal_gl_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                  const kallima_buffer *source, uint64_t source_offset,
                                  uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)target->device;
    KAL_TRY(kal_gl_begin(device));
    device->gl->BindBuffer(GL_COPY_READ_BUFFER, kal_gl_name(source->memory));
    device->gl->BindBuffer(GL_COPY_WRITE_BUFFER, kal_gl_name(target->memory));
    device->gl->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER,
                                  (ptrdiff_t)source_offset, (ptrdiff_t)target_offset,
                                  (ptrdiff_t)bytes);
    return kal_gl_end(device, kal_gl_check(device, "glCopyBufferSubData"));
}
