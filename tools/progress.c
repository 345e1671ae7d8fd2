// SPDX-License-Identifier: MIT
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const int64_t quiet_ns = 1000000000; // shorter work shows nothing
static const int64_t redraw_ns = 100000000;
enum { BAR_WIDTH = 30 }; // with all else, less than a terminal of 80 columns

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_begin(struct progress *progress, int64_t total, const char *label)
{
    const int64_t now = now_ns();
    *progress = (struct progress){
        .label = label,
        .total = total > 0 ? total : 1,
        .start_ns = now,
        .step_ns = now,
        .terminal = isatty(STDERR_FILENO),
    };
}

void progress_expect(struct progress *progress, double seconds)
{
    progress->step_seconds = seconds;
}

// What is done of all the work, 0 to 1.
static double share_done(const struct progress *progress, int64_t now)
{
    double done = (double)progress->done;
    if (progress->step_seconds > 0)
        done +=
            fmin(1e-9 * (double)(now - progress->step_ns) / progress->step_seconds, 1);
    return fmin(done / (double)progress->total, 1);
}

// The rest will take as long as what is done did; nothing until something is done.
static void draw_left(const struct progress *progress, double share, int64_t now)
{
    static const struct {
        const char *name;
        double seconds, up_to;
    } units[] = { { "s", 1, 100 }, { "min", 60, 6000 }, { "h", 3600, INFINITY } };
    const double left =
        1e-9 * (double)(now - progress->start_ns) * (1 - share) / fmax(share, 1e-9);
    int i = 0;

    if (!(share > 0))
        return;
    while (left >= units[i].up_to)
        i++;
    fprintf(stderr, ", about %.0f %s left", fmax(left / units[i].seconds, 1),
            units[i].name);
}

static void draw(const struct progress *progress, int64_t now)
{
    char bar[BAR_WIDTH + 1];
    const double share = share_done(progress, now);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3d %%", progress->label, bar, (int)(100.0 * share));
    draw_left(progress, share, now);
    fputs("\033[K", stderr); // what was longer before
    fflush(stderr);
}

void progress_step(struct progress *progress, int64_t steps)
{
    progress->done += steps;
    if (!progress->terminal)
        return;

    const int64_t now = now_ns();
    if (steps > 0)
        progress->step_ns = now;
    if (now - progress->start_ns < quiet_ns || now - progress->shown_ns < redraw_ns)
        return;
    progress->shown_ns = now;
    draw(progress, now);
}

void progress_say(struct progress *progress, const char *words)
{
    if (!progress->terminal)
        return;
    fprintf(stderr, "\r%s\033[K", words);
    fflush(stderr);
    progress->shown_ns = now_ns();
}

void progress_end(struct progress *progress)
{
    if (progress->shown_ns)
        fputs("\r\033[K", stderr);
    progress->shown_ns = 0;
}
