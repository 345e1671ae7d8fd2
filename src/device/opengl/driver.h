// SPDX-License-Identifier: MIT
// What the files of this folder share: the functions of EGL and OpenGL, found at run time, and
// the device's own objects.
#ifndef KAL_DEVICE_OPENGL_DRIVER_H_
#define KAL_DEVICE_OPENGL_DRIVER_H_

#include <pthread.h>

#include "device/opengl/api.h"
#include "device/opengl/opengl.h"
#include "device/vulkan/export.h"

enum { GL_MAX_DEVICES = 16 };

// Where every kernel has the number of its first group; slot i has its offset in bytes at i.
enum { GL_FIRST_GROUP = 15 };

/** What EGL calls a display: one device, and what its contexts are of. */
struct gl_display {
    void *handle;
    bool is_software; // as it says before there is a context
    bool is_es;
};

/** What the calling thread had made current. */
struct gl_caller {
    unsigned api;
    void *display, *draw, *read, *context;
};

struct gl_worker;

/**
 * A context, current on the thread whose turn it is or on the worker, and on no other; or the
 * caller's own, which the caller makes current.
 */
struct gl_device {
    struct kallima_device base;
    const struct gl_api *gl;
    kallima_device_info info;
    struct gl_display display;
    void *context;
    bool is_adopted;
    bool has_clock;
    bool imports;                     // memory of Vulkan's for its buffers, from
    struct kal_vk_exporter *exporter; // that of the same device; NULL before it is needed
    pthread_mutex_t lock;             // of the turns, and of what the worker is told
    pthread_cond_t turn_passed;       //
    uint64_t turns_asked;             // by one call each, in the order of their coming
    uint64_t turns_passed;            //
    struct gl_caller caller;          // of the thread whose turn it is
    struct gl_worker *worker;         // NULL: the calling thread enqueues
    int most_rows;                    // of groups, of a launch
    uint64_t bound_bytes;             // most of a buffer that a kernel sees, from
    uint64_t bound_offset;            // a multiple of this on
};

/** Its memory's object is itself. */
struct gl_buffer {
    struct kallima_buffer base;
    unsigned name;
    uint64_t object_bytes; // of OpenGL's object, which may be the caller's
    uint64_t address;      // for kernels that take pointers
    unsigned imported;     // the memory object that it lies in; 0: none
    bool is_wrapped;
};

struct gl_kernel {
    struct kal_device_kernel base;
    unsigned program;
    unsigned uniforms; // a bit for each location that its program uses
    int slots;
};

/** Return the functions of EGL and OpenGL; NULL where they are not installed. Thread: any. */
const struct gl_api *kal_gl_api(void);

/** List the displays, imitations last; return how many. Nothing is started. */
int kal_gl_displays(const struct gl_api *gl, struct gl_display displays[GL_MAX_DEVICES]);

/** Describe the device of the context that is current, but for its selector. */
void kal_gl_describe(const struct gl_api *gl, kallima_device_info *info);

/** Return whether what was described is OpenGL ES. */
bool kal_gl_is_es(const kallima_device_info *info);

/** Describe device `index`, and give its display; false where there is none. */
bool kal_gl_find(int index, kallima_device_info *info, struct gl_display *display);

/** Create a context of OpenGL 4.3 or OpenGL ES 3.1; NULL where that is not possible. */
void *kal_gl_context_create(const struct gl_api *gl, const struct gl_display *display);

/** Make `context` current and keep what was; then the reverse, also where the first failed. */
bool kal_gl_enter(const struct gl_api *gl, const struct gl_display *display,
                  void *context, struct gl_caller *caller);
void kal_gl_leave(const struct gl_api *gl, const struct gl_display *display,
                  const struct gl_caller *caller);

/** Fill in what the device can do; its context is current. */
void kal_gl_fill_caps(struct gl_device *device);

/** Append what identifies the device and its driver to a string. */
void kal_gl_key(const kallima_device *device, char *key, size_t capacity);

/** Return OK if OpenGL has no error to tell; else log the failed `call` and translate it. */
kallima_status kal_gl_check(const struct gl_device *device, const char *call);

/** Log the failed `call`, with OpenGL's error or, if it has none to tell, with `what`. */
kallima_status kal_gl_fail(const struct gl_device *device, const char *call,
                           const char *what);

/**
 * Make the device's context current, keep what was in `caller`, and return OK; else log why
 * not, and leave the thread as it was.
 */
kallima_status kal_gl_make_current(const struct gl_device *device,
                                   struct gl_caller *caller);

/**
 * Wait for this call's turn, then for the worker to enqueue all that it was given, and make the
 * context current; the caller's own must be that already. An error that the caller left in it
 * is told to the log.
 *
 * Thread: any; each has its turn in the end, whatever others enqueue.
 * Error:  E_DEVICE  the context cannot be made current; or what an earlier call gave to the
 *                   worker failed, for which one call fails, with the status of that
 */
kallima_status kal_gl_begin(struct gl_device *device);

/**
 * As kal_gl_begin(), to destroy what the context has: a failure of earlier work is left for
 * another call to tell.
 */
kallima_status kal_gl_begin_destroying(struct gl_device *device);

/**
 * Pass the turn on and return `status`; of a context that is not the caller's, have the
 * driver start on what was enqueued, and make what was current before so again.
 */
kallima_status kal_gl_end(struct gl_device *device, kallima_status status);

/**
 * Make a device of `parts`: host, functions, description and context, which is taken, also on
 * failure, unless it is adopted.
 */
kallima_status kal_gl_device_take(kallima_device **out, const struct gl_device *parts);

/** Wait until it is this call's turn with the device; the lock is held, and is meanwhile not. */
void kal_gl_turn_take(struct gl_device *device);

/** Let the next call have its turn; the lock is held. */
void kal_gl_turn_pass(struct gl_device *device);

/** What the worker could not do, and why. */
struct gl_failure {
    kallima_status status; // OK: nothing
    char sentence[200];
};

/**
 * Start the thread that enqueues for all others and keeps the context current meanwhile. Where
 * there can be no thread, device->worker stays NULL.
 *
 * Error: E_MEMORY  host memory is exhausted
 */
kallima_status kal_gl_worker_start(struct gl_device *device);

/** Have the worker do what it was given, give up the context and end. It may be NULL. */
void kal_gl_worker_stop(struct gl_device *device);

/** As that, but for the end; the lock is held, and it is this call's turn. */
void kal_gl_worker_pause(struct gl_device *device);

/** Take what the worker failed to do: once. The lock is held. */
struct gl_failure kal_gl_worker_failure(struct gl_device *device);

/** Log a failure of what was enqueued before, and return its status. */
kallima_status kal_gl_tell(const struct gl_device *device,
                           const struct gl_failure *failure);

/**
 * Give work, or a query to mark with the time, to the worker. One call's work stays together,
 * and all is done in the order of the calls. What it is of must exist until kal_gl_begin().
 *
 * Thread: any
 * Error:  that of earlier work, as of kal_gl_begin()
 */
kallima_status kal_gl_post_work(struct gl_device *device, const struct kal_work *work,
                                int count);
kallima_status kal_gl_post_mark(struct gl_device *device, unsigned query);

/** Enqueue one work behind what it may depend on; the context is current. */
void kal_gl_issue(const struct gl_device *device, const struct kal_work *work);

/** Enqueue the mark of a query; the context is current. */
void kal_gl_mark(const struct gl_device *device, unsigned query);

/** Return whether kernels take pointers, not blocks. */
static inline bool kal_gl_takes_pointers(const struct gl_device *device)
{
    return device->base.caps.language == KAL_LANGUAGE_GLSL_POINTERS;
}

kallima_status kal_gl_buffer_create(kallima_buffer **out, kallima_device *device,
                                    uint64_t bytes);
void kal_gl_buffer_destroy(kallima_buffer *buffer);
kallima_status kal_gl_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                   const void *source, uint64_t bytes);
kallima_status kal_gl_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                  void *target, uint64_t bytes);
kallima_status kal_gl_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                  const kallima_buffer *source, uint64_t source_offset,
                                  uint64_t bytes);

kallima_status kal_gl_timer_create(kallima_timer **out, kallima_device *device);
void kal_gl_timer_destroy(kallima_timer *timer);
kallima_status kal_gl_timer_start(kallima_timer *timer);
kallima_status kal_gl_timer_stop(kallima_timer *timer);
kallima_status kal_gl_timer_read(const kallima_timer *timer, double *seconds);

kallima_status kal_gl_kernel_create(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made);
void kal_gl_kernel_destroy(struct kal_device_kernel *kernel);

kallima_status kal_gl_enqueue(kallima_device *device, const struct kal_work *work,
                              int count, const struct kal_sync *sync);

#endif
