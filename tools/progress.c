// SPDX-License-Identifier: MIT
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const int64_t quiet_ns = 1000000000; // shorter work shows nothing
static const int64_t redraw_ns = 100000000;
enum { BAR_WIDTH = 40 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_begin(struct progress *progress, int64_t total, const char *label)
{
    *progress = (struct progress){
        .label = label,
        .total = total > 0 ? total : 1,
        .start_ns = now_ns(),
        .terminal = isatty(STDERR_FILENO),
    };
}

static void draw(const struct progress *progress)
{
    char bar[BAR_WIDTH + 1];
    const int64_t done =
        progress->done < progress->total ? progress->done : progress->total;
    const double share = (double)done / (double)progress->total;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3d %%", progress->label, bar, (int)(100.0 * share));
    fflush(stderr);
}

void progress_step(struct progress *progress, int64_t steps)
{
    progress->done += steps;
    if (!progress->terminal)
        return;

    const int64_t now = now_ns();
    if (now - progress->start_ns < quiet_ns || now - progress->shown_ns < redraw_ns)
        return;
    progress->shown_ns = now;
    draw(progress);
}

void progress_end(struct progress *progress)
{
    if (progress->shown_ns)
        fputs("\r\033[K", stderr);
    progress->shown_ns = 0;
}
