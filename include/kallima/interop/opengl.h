// SPDX-License-Identifier: MIT
// OpenGL: plans in the caller's context, on its buffer objects. Needs no header of OpenGL: a
// buffer object is known by its name, a GLuint.
#ifndef KALLIMA_INTEROP_OPENGL_H_
#define KALLIMA_INTEROP_OPENGL_H_

#include <kallima/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make a device of the context that is current on the calling thread: of OpenGL 4.3, OpenGL
 * ES 3.1, or above, made with EGL, with or without a window. All work of its plans, buffers and
 * timers is enqueued in this context, in order with what else the caller enqueues there, and is
 * started with it: by glFlush() or what waits for it.
 *
 * Memory barriers are the caller's, as between any two of its own commands. What its shaders
 * wrote to a buffer is seen by a transform after glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT).
 * What a transform wrote is seen, without one, by shader storage blocks, by commands that read
 * or copy buffers, and by further transforms; for any other use, such as vertices or pixels,
 * the caller calls glMemoryBarrier() with the bit of that use.
 *
 * Of the context's state a call may change the program in use, what GL_COPY_READ_BUFFER and
 * GL_COPY_WRITE_BUFFER are bound to, and GL_SHADER_STORAGE_BUFFER with its bindings 0 to 9. An
 * error that the context had before a call is taken and told to the log, and does not fail it.
 *
 * Owner:  the caller owns *out and frees it with kallima_device_close(). The context stays the
 *         caller's and must outlive the device, its plans, buffers and timers. `options`
 *         (NULL: the default) is as in kallima_device_open().
 * Thread: any that has the context current, here and in every call that is given the device,
 *         a plan, a buffer or a timer of it. Others are E_DEVICE; what they destroy stays in
 *         the context until that goes.
 * Error:  E_ARGUMENT     `out` is NULL, no context of EGL is current, or one of the allocator's
 *                        two functions is missing
 *         E_UNSUPPORTED  the context is of a version below 4.3, in OpenGL ES below 3.1
 *         E_ABSENT       the library cannot load libEGL.so.1
 *         E_MEMORY       host memory is exhausted
 *         E_DEVICE       OpenGL refused a call
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_opengl_adopt(kallima_device **out,
                                                const kallima_device_options *options);

/**
 * Make a buffer of a part of the caller's buffer object. Nothing is copied. On an NVIDIA
 * H200 kernels move twice as much between objects whose storage is sparse
 * (GL_ARB_sparse_buffer) or memory of Vulkan's (GL_EXT_memory_object_fd), as that of
 * large ones of kallima_buffer_create() is.
 *
 * Shape:  bytes `offset_bytes` to `offset_bytes` + `bytes` of the object named `buffer`,
 * whose
 *         storage exists; `offset_bytes` is a multiple of 16, `bytes` is at least 1.
 * Owner:  the caller owns *out and frees it with kallima_buffer_destroy(), which leaves
 * the
 *         object alone. The object, with this storage, must outlive the buffer and the
 *         work that uses it.
 * Thread: any that has the device's context current.
 * Error:  E_ARGUMENT  a pointer is NULL, `device` is none of kallima_opengl_adopt(),
 * `buffer`
 *                     names no buffer object, or the range is outside it or misaligned
 *         E_MEMORY    host memory is exhausted
 *         E_DEVICE    the context is not current, or OpenGL refused a call
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_opengl_wrap(kallima_buffer **out,
                                               kallima_device *device, unsigned buffer,
                                               uint64_t offset_bytes, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
