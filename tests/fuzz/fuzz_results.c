// SPDX-License-Identifier: MIT
// Damaged results of kallima compare: the reader accepts or refuses them, and of what it accepts
// there is a summary.
#include "compare/results.h"
#include "compare/summary.h"
#include "fuzz_files.h"

#define ROW(technology, lengths, numbers)                                          \
    "{\"record\": \"row\", \"technology\": \"" technology "\", \"group\": \"g\", " \
    "\"kind\": \"c2c\", \"precision\": \"f32\", \"lengths\": \"" lengths "\", "    \
    "\"batch\": 2, \"direction\": \"forward\", \"placement\": "                    \
    "\"out-of-place\", " numbers "}\n"
#define TECHNOLOGY(library, selector)                              \
    "{\"record\": \"technology\", \"id\": \"" library " " selector \
    "\", \"library\": \"" library "\", \"selector\": \"" selector  \
    "\", \"device\": \"d\", \"driver\": \"1\", "                   \
    "\"version\": \"2\", \"threads\": 0, \"is_software\": false}\n"
#define TIMES(ms)                                                                        \
    "\"plan_ms\": 3.5, \"replan_ms\": 1, \"median_ms\": " ms ", \"spread\": 0.02, "      \
    "\"gflops\": 4e2, \"x_copy\": 0.5, \"bytes\": 67108864, \"total_ms\": 9, "           \
    "\"error\": 1e-7, \"error_bound\": 2e-7, \"recipe\": \"a \\\"\\u00e9\\n\", \"ok\": " \
    "true"

static const char text[] =
    "{\"record\": \"machine\", \"format\": 1, \"kallima\": \"0\", \"commit\": \"c\", "
    "\"date\": \"d\", \"processor\": \"p\", \"processors\": 2, \"kernel\": \"k\", "
    "\"load\": 1}\n" TECHNOLOGY("kallima", "cpu") TECHNOLOGY("fftw", "cpu") TECHNOLOGY(
        "kallima",
        "cuda:0") "{\"record\": \"group\", \"id\": \"g\", \"title\": \"T\", \"shows\": "
                  "\"size\"}\n" ROW("kallima cpu", "16", TIMES("1.5"))
                      ROW("fftw cpu", "16", TIMES("1"))
                          ROW("kallima cuda:0", "16", TIMES("0.25"))
                              ROW("kallima cpu", "8x8", TIMES("1"))
                                  ROW("fftw cpu", "8x8",
                                      "\"ok\": false, \"failed\": \"crashed\"");

static void listen(void *user, const char *heading, const char *sentence)
{
    *(size_t *)user += strlen(heading) + strlen(sentence);
}

static int read_results(struct input *input)
{
    struct results results = { 0 };
    char why[512];
    size_t said = 0;
    FILE *file = fmemopen(input->byte, input->count, "rb");
    if (!file)
        abort();
    const int accepted = results_read_file(&results, file, "fuzz", why, sizeof why);
    fclose(file);
    if (accepted)
        summary_tell(&results, listen, &said);
    results_clear(&results);
    return accepted;
}

int main(int argc, char **argv)
{
    static struct fuzz_seed seed = { .name = "results", .count = sizeof text - 1 };
    const int rounds = fuzz_begin(argc, argv, 20000);
    memcpy(seed.byte, text, seed.count);
    return fuzz_run(&seed, read_results, rounds);
}
