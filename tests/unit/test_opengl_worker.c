// SPDX-License-Identifier: MIT
// The thread that enqueues for the device opengl, on the first device present: what is given to it
// is done, once, in order, whoever gives it and whatever else is called meanwhile.
#include <errno.h>
#include <kallima/kallima.h>
#include <pthread.h>

#include "../jobs.h"
#include "../rows.h"
#include "device/opengl/driver.h"

enum { MANY = 500, THREADS = 4, TURNS = 100, GROUPS = JOB_NUMBERS / JOB_LANES };

static struct counting counting;
static bool has_no_threads;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    return has_no_threads ? EAGAIN
                          : __real_pthread_create(thread, attributes, run, argument);
}

/** Arrays of a thread: y is to be `times` * 2 * x. */
struct sum {
    kallima_device *device;
    struct kal_device_kernel *kernel;
    kallima_buffer *x, *y;
    int times;
};

static struct sum sum_make(kallima_device *device, uint32_t slope)
{
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS] = { 0 };
    job_ramp(x, JOB_NUMBERS, slope);
    return (struct sum){ device, job_compile(device, JOB_SAXPY),
                         job_upload(device, x, sizeof x), job_upload(device, y, sizeof y),
                         0 };
}

// `count` launches in one call.
static void sum_add(struct sum *sum, int count)
{
    struct kal_work work[MANY];
    assert_true(count <= MANY);
    for (int i = 0; i < count; i++)
        work[i] = (struct kal_work){ .kernel = sum->kernel,
                                     .groups = GROUPS,
                                     .slot = { job_at(sum->x, 0), job_at(sum->y, 0) } };
    ROW_CHECK(sum->device->ops->enqueue(sum->device, work, count, NULL) == KALLIMA_OK);
    sum->times += count;
}

static void sum_check(const struct sum *sum)
{
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];
    int wrong = 0;
    ROW_CHECK(kallima_buffer_read(sum->x, 0, x, sizeof x) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(sum->y, 0, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < JOB_NUMBERS; i++)
        wrong += y[i] != 2 * (uint32_t)sum->times * x[i];
    ROW_CHECK(wrong == 0);
}

static void sum_clear(struct sum *sum)
{
    sum->device->ops->kernel_destroy(sum->kernel);
    kallima_buffer_destroy(&sum->x);
    kallima_buffer_destroy(&sum->y);
}

static void more_than_it_can_be_given_at_once_is_done(void **state)
{
    kallima_device *device = job_open("opengl", &counting);
    struct sum sum = sum_make(device, 3);

    (void)state;
    ROW_CHECK(((struct gl_device *)device)->worker != NULL);
    sum_add(&sum, MANY);
    sum_check(&sum);
    for (int i = 0; i < MANY; i++)
        sum_add(&sum, 1);
    sum_check(&sum);
    sum_clear(&sum);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// Enqueues, and now and then does what the worker must rest for.
static void *take_turns(void *argument)
{
    struct sum *sum = argument;
    uint32_t zero = 0;
    for (int i = 0; i < TURNS; i++) {
        const struct kal_work work = {
            .kernel = sum->kernel,
            .groups = GROUPS,
            .slot = { job_at(sum->x, 0), job_at(sum->y, 0) },
        };
        sum->times +=
            sum->device->ops->enqueue(sum->device, &work, 1, NULL) == KALLIMA_OK;
        if (i % 16 == 15) // the first of x is 0
            sum->times +=
                kallima_buffer_write(sum->x, 0, &zero, sizeof zero) != KALLIMA_OK;
    }
    return NULL;
}

static void several_threads_give_and_wait(void **state)
{
    kallima_device *device = job_open("opengl", &counting);
    struct sum sum[THREADS];
    pthread_t thread[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        sum[i] = sum_make(device, (uint32_t)i + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, take_turns, &sum[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        ROW_CHECK(sum[i].times == TURNS);
        sum_check(&sum[i]);
        sum_clear(&sum[i]);
    }
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void a_device_may_be_closed_behind_what_was_enqueued(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        kallima_device *device = job_open("opengl", &counting);
        if (i % 2) {
            struct sum sum = sum_make(device, 1);
            sum_add(&sum, 5);
            sum_clear(&sum);
        }
        kallima_device_close(&device);
        ROW_CHECK(counting.live == 0);
    }
    ROWS_FINISH();
}

static void without_a_thread_the_caller_enqueues(void **state)
{
    (void)state;
    has_no_threads = true;
    kallima_device *device = job_open("opengl", &counting);
    has_no_threads = false;
    ROW_CHECK(((struct gl_device *)device)->worker == NULL);
    struct sum sum = sum_make(device, 7);
    sum_add(&sum, 3);
    sum_check(&sum);
    sum_clear(&sum);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_it_can_be_given_at_once_is_done),
        cmocka_unit_test(several_threads_give_and_wait),
        cmocka_unit_test(a_device_may_be_closed_behind_what_was_enqueued),
        cmocka_unit_test(without_a_thread_the_caller_enqueues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
