// SPDX-License-Identifier: MIT
// The worker: a thread that keeps the device's context current and enqueues for the others. To make
// a context current and give it back again, which every call would do, takes drivers longer than to
// enqueue. What needs an answer at once is done by the calling thread, while the worker rests.
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "device/opengl/driver.h"

// Orders that wait, a power of two, and those that are done before their places are free.
enum { ORDERS = 128, PIECE = ORDERS / 4 };

// To fall asleep and be woken takes either side longer than most transforms that come one by one:
// who waits looks out for so many seconds before it sleeps. An imitation needs the processor.
static const double LOOKOUT_SECONDS = 50e-6;

/** One work or, unless `query` is 0, its mark. */
struct order {
    struct kal_work work;
    unsigned query;
};

/** What one thread at a time waits for. It is rung with the lock held. */
struct bell {
    pthread_cond_t sound;
    atomic_uint rings; // which who looks out reads without the lock
    bool has_sleeper;
};

/** All but `rings` is under the device's lock, but for the orders between `done` and `given`. */
struct gl_worker {
    pthread_t thread;
    double lookout_seconds;
    struct bell asked;    // for the worker,
    struct bell answered; // for the thread whose turn it is
    struct order orders[ORDERS];
    unsigned given, done; // so far: they wrap
    bool has_context;
    bool has_launched; // what the driver was not yet told to start: the worker's own
    bool is_paused;    // there is a turn that needs the context
    bool is_ending;
    struct gl_failure failure; // not told yet
};

static void ring(struct bell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
    if (bell->has_sleeper)
        pthread_cond_signal(&bell->sound);
}

static void look_out(struct bell *bell, unsigned seen, double seconds)
{
    const double end = kal_clock_now() + seconds;
    while (atomic_load(&bell->rings) == seen && kal_clock_now() < end)
        ;
}

// With the lock, which is free meanwhile. What was waited for may not have come.
static void await(struct gl_device *device, struct bell *bell)
{
    const unsigned seen = atomic_load(&bell->rings);
    if (device->worker->lookout_seconds > 0.0) {
        pthread_mutex_unlock(&device->lock);
        look_out(bell, seen, device->worker->lookout_seconds);
        pthread_mutex_lock(&device->lock);
    }
    if (atomic_load(&bell->rings) != seen)
        return;
    bell->has_sleeper = true;
    pthread_cond_wait(&bell->sound, &device->lock);
    bell->has_sleeper = false;
}

// --- the worker's side -----------------------------------------------------------------------

// The first failure is told; those behind it are mostly of its making.
static void note(struct gl_worker *worker, kallima_status status)
{
    if (!status || worker->failure.status)
        return;
    worker->failure.status = status;
    snprintf(worker->failure.sentence, sizeof worker->failure.sentence, "%s",
             kallima_last_error());
}

// What was to be done in a context that cannot be had is given up.
static void take_context(struct gl_device *device)
{
    struct gl_worker *worker = device->worker;
    struct gl_caller nobody;

    pthread_mutex_unlock(&device->lock);
    const kallima_status status = kal_gl_make_current(device, &nobody);
    pthread_mutex_lock(&device->lock);
    worker->has_context = status == KALLIMA_OK;
    if (worker->has_context)
        return;
    note(worker, status);
    worker->done = worker->given;
    ring(&worker->answered);
}

// The driver starts then on what was enqueued.
static void give_context(struct gl_device *device)
{
    pthread_mutex_unlock(&device->lock);
    device->gl->egl.MakeCurrent(device->display.handle, NULL, NULL, NULL);
    pthread_mutex_lock(&device->lock);
    device->worker->has_launched = false;
    device->worker->has_context = false;
    ring(&device->worker->answered);
}

static void do_order(struct gl_device *device, const struct order *order)
{
    if (order->query) {
        kal_gl_mark(device, order->query);
        return;
    }
    kal_gl_issue(device, &order->work);
    device->worker->has_launched = true;
}

static void do_orders(struct gl_device *device)
{
    struct gl_worker *worker = device->worker;
    const unsigned first = worker->done, waiting = worker->given - first;
    const unsigned count = waiting < PIECE ? waiting : PIECE;

    pthread_mutex_unlock(&device->lock);
    for (unsigned i = 0; i < count; i++)
        do_order(device, &worker->orders[(first + i) % ORDERS]);
    const kallima_status status = kal_gl_check(device, "glDispatchCompute");
    pthread_mutex_lock(&device->lock);
    note(worker, status);
    worker->done = first + count;
    ring(&worker->answered);
}

static void flush(struct gl_device *device)
{
    device->worker->has_launched = false;
    pthread_mutex_unlock(&device->lock);
    device->gl->Flush();
    pthread_mutex_lock(&device->lock);
}

// The one thing that is to be done first; return whether there was any.
static bool do_next(struct gl_device *device)
{
    struct gl_worker *worker = device->worker;
    const bool is_idle = worker->given == worker->done;

    if (!is_idle)
        (worker->has_context ? do_orders : take_context)(device);
    else if (worker->has_context && (worker->is_paused || worker->is_ending))
        give_context(device);
    else if (worker->has_launched)
        flush(device);
    else
        return false;
    return true;
}

static bool wait_for_more(struct gl_device *device)
{
    if (device->worker->is_ending)
        return false;
    await(device, &device->worker->asked);
    return true;
}

static void *run(void *argument)
{
    struct gl_device *device = argument;

    pthread_mutex_lock(&device->lock);
    while (do_next(device) || wait_for_more(device))
        ;
    pthread_mutex_unlock(&device->lock);
    device->gl->egl.ReleaseThread();
    return NULL;
}

// --- the side of the thread whose turn it is --------------------------------------------------

void kal_gl_worker_pause(struct gl_device *device)
{
    struct gl_worker *worker = device->worker;
    if (worker->given == worker->done && !worker->has_context)
        return;
    worker->is_paused = true;
    ring(&worker->asked);
    while (worker->given != worker->done || worker->has_context)
        await(device, &worker->answered);
    worker->is_paused = false;
}

struct gl_failure kal_gl_worker_failure(struct gl_device *device)
{
    struct gl_failure failure = { .status = KALLIMA_OK };
    if (device->worker && device->worker->failure.status) {
        failure = device->worker->failure;
        device->worker->failure.status = KALLIMA_OK;
    }
    return failure;
}

kallima_status kal_gl_tell(const struct gl_device *device,
                           const struct gl_failure *failure)
{
    return kal_fail(&device->base.host, failure->status,
                    "%s, in work enqueued before this call", failure->sentence);
}

static void give(struct gl_device *device, const struct order *order)
{
    struct gl_worker *worker = device->worker;
    while (worker->given - worker->done == ORDERS) {
        ring(&worker->asked);
        await(device, &worker->answered);
    }
    worker->orders[worker->given % ORDERS] = *order;
    worker->given++;
}

// Return whether there is no failure that is to be told instead.
static bool begin_giving(struct gl_device *device, struct gl_failure *earlier)
{
    pthread_mutex_lock(&device->lock);
    kal_gl_turn_take(device);
    *earlier = kal_gl_worker_failure(device);
    return !earlier->status;
}

static kallima_status end_giving(struct gl_device *device,
                                 const struct gl_failure *earlier)
{
    ring(&device->worker->asked);
    kal_gl_turn_pass(device);
    pthread_mutex_unlock(&device->lock);
    return earlier->status ? kal_gl_tell(device, earlier) : KALLIMA_OK;
}

kallima_status kal_gl_post_work(struct gl_device *device, const struct kal_work *work,
                                int count)
{
    struct gl_failure earlier;
    if (begin_giving(device, &earlier)) {
        for (int i = 0; i < count; i++)
            give(device, &(struct order){ .work = work[i] });
    }
    return end_giving(device, &earlier);
}

kallima_status kal_gl_post_mark(struct gl_device *device, unsigned query)
{
    struct gl_failure earlier;
    if (begin_giving(device, &earlier))
        give(device, &(struct order){ .query = query });
    return end_giving(device, &earlier);
}

// --- beginning and end -----------------------------------------------------------------------

static void clear(struct gl_device *device)
{
    pthread_cond_destroy(&device->worker->asked.sound);
    pthread_cond_destroy(&device->worker->answered.sound);
    kal_free(&device->base.host, device->worker);
    device->worker = NULL;
}

// Signals are for the caller's threads.
static bool start_thread(struct gl_device *device)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&device->worker->thread, NULL, run, device);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

kallima_status kal_gl_worker_start(struct gl_device *device)
{
    void *object;
    KAL_TRY(kal_alloc_object(&device->base.host, &object, sizeof(struct gl_worker)));
    struct gl_worker *worker = object;
    worker->lookout_seconds = device->info.is_software ? 0.0 : LOOKOUT_SECONDS;
    pthread_cond_init(&worker->asked.sound, NULL);
    pthread_cond_init(&worker->answered.sound, NULL);
    device->worker = worker;
    if (!start_thread(device))
        clear(device);
    return KALLIMA_OK;
}

void kal_gl_worker_stop(struct gl_device *device)
{
    struct gl_worker *worker = device->worker;
    if (!worker)
        return;
    pthread_mutex_lock(&device->lock);
    worker->is_ending = true;
    ring(&worker->asked);
    pthread_mutex_unlock(&device->lock);
    pthread_join(worker->thread, NULL);
    clear(device);
}
