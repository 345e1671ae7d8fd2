// SPDX-License-Identifier: MIT
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <kallima/kallima.h>

#include "child.h"
#include "compare_commit.h"

#if defined __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER ""
#endif

#if defined __OPTIMIZE__
#define OPTIMISED ""
#else
#define OPTIMISED ", not optimised"
#endif

static bool is_about(const char *line, const char *name)
{
    return strncmp(line, name, strlen(name)) == 0;
}

// The name of the first processor, and the highest clock of all.
static void read_processors(struct machine *machine)
{
    char line[256];
    double mhz;
    bool is_named = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        if (is_about(line, "model name") && !is_named) {
            snprintf(machine->processor, sizeof machine->processor, "%.*s",
                     (int)strcspn(colon, "\n"), colon);
            is_named = true;
        } else if (is_about(line, "cpu MHz") && sscanf(colon, "%lf", &mhz) == 1) {
            machine->clock_mhz = fmax(machine->clock_mhz, mhz);
        }
    }
    if (file)
        fclose(file);
}

static double read_load(void)
{
    double load = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%lf", &load) != 1)
        load = 0;
    if (file)
        fclose(file);
    return load;
}

void machine_describe(struct machine *machine)
{
    const time_t now = time(NULL);
    struct utsname system;

    record_clear(RECORD_MACHINE, machine);
    machine->format = RECORD_FORMAT;
    snprintf(machine->kallima, sizeof machine->kallima, "%s", kallima_version());
    snprintf(machine->commit, sizeof machine->commit, "%s", COMPARE_COMMIT);
    snprintf(machine->compiler, sizeof machine->compiler, "%s", COMPILER OPTIMISED);
    strftime(machine->date, sizeof machine->date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    if (uname(&system) == 0) {
        snprintf(machine->kernel, sizeof machine->kernel, "%.30s %.60s %.30s",
                 system.sysname, system.release, system.machine);
        snprintf(machine->processor, sizeof machine->processor, "%s", system.machine);
    }
    read_processors(machine);
    machine->processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    machine->memory_gib =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1073741824.0;
    machine->load = read_load();
    child_read_command("timeout 10 nvidia-smi --query-gpu=name,driver_version,"
                       "clocks.current.sm,clocks.max.sm,clocks.max.mem,power.limit "
                       "--format=csv,noheader 2>/dev/null",
                       machine->gpu, sizeof machine->gpu);
}

// Not the load, nor the clocks, which change.
bool machine_is_same(const struct machine *a, const struct machine *b)
{
    return strcmp(a->kallima, b->kallima) == 0 && strcmp(a->commit, b->commit) == 0 &&
           strcmp(a->compiler, b->compiler) == 0 &&
           strcmp(a->processor, b->processor) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
           a->processors == b->processors;
}
