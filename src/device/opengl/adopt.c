// SPDX-License-Identifier: MIT
// The caller's own objects: the current context as a device, a buffer object as a buffer.
#include "device/opengl/driver.h"

#include <stdio.h>
#include <string.h>

// By the text, as versions below 3.0 take being asked for the numbers for an error.
static bool is_recent(const struct gl_device *parts)
{
    const char *version = parts->info.driver;
    int major = 0, minor = 0;
    sscanf(version + strcspn(version, "0123456789"), "%d.%d", &major, &minor);
    return 10 * major + minor >= (parts->display.is_es ? 31 : 43);
}

kallima_status kal_opengl_adopt(kallima_device **out, const struct kal_host *host)
{
    struct gl_device parts = { .base.host = *host,
                               .gl = kal_gl_api(),
                               .is_adopted = true };
    if (!parts.gl)
        return kal_fail(host, KALLIMA_E_ABSENT,
                        "opengl: libEGL.so.1 cannot be loaded, or lacks functions");
    parts.display.handle = parts.gl->egl.GetCurrentDisplay();
    parts.context = parts.gl->egl.GetCurrentContext();
    if (!parts.context)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "opengl: no context of EGL is current on this thread");
    kal_gl_describe(parts.gl, &parts.info);
    snprintf(parts.info.selector, sizeof parts.info.selector, "opengl");
    parts.display.is_es = kal_gl_is_es(&parts.info);
    if (!is_recent(&parts))
        return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                        "opengl: the context is of version \"%s\"; must be OpenGL 4.3, "
                        "OpenGL ES 3.1, or above",
                        parts.info.driver);
    return kal_gl_device_take(out, &parts);
}

// The bytes of the caller's buffer object.
static kallima_status find_size(struct gl_device *device, unsigned name, uint64_t *bytes)
{
    const struct gl_api *gl = device->gl;
    int64_t size = 0;

    KAL_TRY(kal_gl_begin(device));
    if (!gl->IsBuffer(name))
        return kal_gl_end(device, kal_fail(&device->base.host, KALLIMA_E_ARGUMENT,
                                           "opengl: %u is no buffer object of the "
                                           "adopted context",
                                           name));
    gl->BindBuffer(GL_COPY_READ_BUFFER, name);
    gl->GetBufferParameteri64v(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &size);
    *bytes = (uint64_t)size;
    return kal_gl_end(device, kal_gl_check(device, "glGetBufferParameteri64v"));
}

kallima_status kal_opengl_wrap(kallima_buffer **out, kallima_device *base, unsigned name,
                               uint64_t offset_bytes, uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)base;
    uint64_t size = 0;
    void *object;

    if (!device->is_adopted)
        return kal_fail(&base->host, KALLIMA_E_ARGUMENT,
                        "opengl: the device has a context of its own; wrap buffers of "
                        "one that is adopted");
    KAL_TRY(find_size(device, name, &size));
    KAL_TRY(kal_range_check(base, "buffer object", size, offset_bytes, bytes));
    KAL_TRY(kal_reach_check(base, device->bound_offset, offset_bytes, bytes));
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct gl_buffer)));
    struct gl_buffer *buffer = object;
    *buffer = (struct gl_buffer){
        .base = { .device = base, .bytes = bytes, .memory = { buffer, offset_bytes } },
        .name = name,
        .object_bytes = size,
        .is_wrapped = true,
    };
    *out = &buffer->base;
    return KALLIMA_OK;
}
