// SPDX-License-Identifier: MIT
// Buffers: objects of OpenGL, which kernels see as a whole.
#include "device/opengl/driver.h"

#include <string.h>
#include <unistd.h>

// Smaller ones stay in the cache, and would waste much of their last page.
static const uint64_t LEAST_IMPORTED_BYTES = 1 << 20;

// The one of the same device; NULL where there is none.
static struct kal_vk_exporter *find_exporter(struct gl_device *device)
{
    uint8_t uuid[KAL_VK_UUID_BYTES] = { 0 };
    if (!device->exporter && device->imports) {
        device->gl->GetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid);
        device->exporter = kal_vk_exporter_open(&device->base.host, uuid);
        device->imports = device->exporter != NULL;
    }
    return device->exporter;
}

// Memory of Vulkan's for the buffer that is bound.
static kallima_status import(const struct gl_device *device, struct gl_buffer *buffer)
{
    const struct gl_api *gl = device->gl;
    struct kal_vk_memory_file file;

    KAL_TRY(kal_vk_export(&file, device->exporter, buffer->object_bytes));
    gl->CreateMemoryObjectsEXT(1, &buffer->imported);
    gl->ImportMemoryFdEXT(buffer->imported, file.bytes, GL_HANDLE_TYPE_OPAQUE_FD_EXT,
                          file.descriptor);
    const kallima_status status = kal_gl_check(device, "glImportMemoryFdEXT");
    if (status) {
        close(file.descriptor); // which was taken else
        return status;
    }
    gl->BufferStorageMemEXT(GL_COPY_WRITE_BUFFER, (ptrdiff_t)buffer->object_bytes,
                            buffer->imported, 0);
    return kal_gl_check(device, "glBufferStorageMemEXT");
}

static kallima_status give_memory(struct gl_device *device, struct gl_buffer *buffer)
{
    const uint64_t bytes = buffer->object_bytes;
    if (bytes >= LEAST_IMPORTED_BYTES && find_exporter(device))
        return import(device, buffer);
    device->gl->BufferData(GL_COPY_WRITE_BUFFER, (ptrdiff_t)bytes, NULL, GL_DYNAMIC_COPY);
    return kal_gl_check(device, "glBufferData");
}

// Where kernels that take pointers find it; others have no need.
static kallima_status find_address(const struct gl_device *device,
                                   struct gl_buffer *buffer)
{
    const struct gl_api *gl = device->gl;
    if (!kal_gl_takes_pointers(device))
        return KALLIMA_OK;
    gl->MakeNamedBufferResidentNV(buffer->name, GL_READ_WRITE);
    gl->GetNamedBufferParameterui64vNV(buffer->name, GL_BUFFER_GPU_ADDRESS_NV,
                                       &buffer->address);
    return kal_gl_check(device, "glMakeNamedBufferResidentNV");
}

static void delete_objects(const struct gl_device *device, const struct gl_buffer *buffer)
{
    device->gl->DeleteBuffers(1, &buffer->name);
    if (buffer->imported)
        device->gl->DeleteMemoryObjectsEXT(1, &buffer->imported);
}

static kallima_status make_objects(struct gl_device *device, struct gl_buffer *buffer)
{
    device->gl->GenBuffers(1, &buffer->name);
    device->gl->BindBuffer(GL_COPY_WRITE_BUFFER, buffer->name);
    kallima_status status = give_memory(device, buffer);
    if (!status)
        status = find_address(device, buffer);
    if (status)
        delete_objects(device, buffer);
    return status;
}

kallima_status kal_gl_buffer_create(kallima_buffer **out, kallima_device *base,
                                    uint64_t bytes)
{
    struct gl_device *device = (struct gl_device *)base;
    void *object;

    if (bytes > device->bound_bytes)
        return kal_fail(&base->host, KALLIMA_E_MEMORY,
                        "opengl: a buffer of %llu bytes; kernels of this device reach "
                        "%llu",
                        (unsigned long long)bytes,
                        (unsigned long long)device->bound_bytes);
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct gl_buffer)));
    struct gl_buffer *buffer = object;
    *buffer = (struct gl_buffer){
        .base = { .device = base, .bytes = bytes, .memory.object = buffer },
        .object_bytes = bytes,
    };
    kallima_status status = kal_gl_begin(device);
    if (!status)
        status = kal_gl_end(device, make_objects(device, buffer));
    if (status) {
        kal_free(&base->host, buffer);
        return status;
    }
    *out = &buffer->base;
    return KALLIMA_OK;
}

void kal_gl_buffer_destroy(kallima_buffer *base)
{
    struct gl_buffer *buffer = (struct gl_buffer *)base;
    struct gl_device *device = (struct gl_device *)base->device;
    if (!buffer->is_wrapped && kal_gl_begin_destroying(device) == KALLIMA_OK) {
        delete_objects(device, buffer);
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
