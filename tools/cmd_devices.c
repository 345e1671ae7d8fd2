// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"

static const char help[] = "usage: kallima devices [--json]\n"
                           "\n"
                           "List the devices that are present, best first. An API "
                           "without a driver lists nothing.\n"
                           "\n"
                           "  --json             one JSON array instead of a table\n";

static void print_table(const kallima_device_info *infos, int32_t count)
{
    printf("%-12s %-18s %-9s %9s  %s\n", "SELECTOR", "DRIVER", "PRECISION", "MEMORY",
           "NAME");
    for (int32_t i = 0; i < count; i++) {
        const kallima_device_info *d = &infos[i];
        char memory[32] = "-";
        if (d->memory_bytes)
            snprintf(memory, sizeof memory, "%.1f GiB",
                     (double)d->memory_bytes / 1073741824.0);
        printf("%-12s %-18s %-9s %9s  %s", d->selector, d->driver,
               d->has_f64 ? "f32 f64" : "f32", memory, d->name);
        if (d->threads)
            printf(", %" PRId32 " thread%s", d->threads, d->threads == 1 ? "" : "s");
        puts(d->is_software ? " (software)" : "");
    }
}

static void print_json(const kallima_device_info *infos, int32_t count)
{
    puts("[");
    for (int32_t i = 0; i < count; i++) {
        const kallima_device_info *d = &infos[i];
        fputs("  {\"selector\": ", stdout);
        cli_print_json(d->selector);
        fputs(", \"name\": ", stdout);
        cli_print_json(d->name);
        fputs(", \"driver\": ", stdout);
        cli_print_json(d->driver);
        printf(", \"is_software\": %s, \"has_f64\": %s, \"threads\": %" PRId32
               ", \"lanes_f32\": %" PRId32 ", \"memory_bytes\": %" PRIu64 "}%s\n",
               d->is_software ? "true" : "false", d->has_f64 ? "true" : "false",
               d->threads, d->lanes_f32, d->memory_bytes, i + 1 < count ? "," : "");
    }
    puts("]");
}

int cmd_devices(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "json", no_argument, NULL, 'j' },
        { 0 },
    };
    bool json = false;
    for (int code; (code = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (code == 'h')
            return cli_print_help(help);
        if (code == '?')
            return CLI_USAGE;
        json = true;
    }
    if (optind < argc)
        return cli_usage(cli, "%s is one argument too many", argv[optind]);

    int32_t count = 0;
    if (kallima_device_list(NULL, 0, &count) != KALLIMA_OK)
        return cli_fail("%s", kallima_last_error());
    kallima_device_info *infos = calloc((size_t)count + 1, sizeof *infos);
    if (!infos)
        return cli_fail("no memory for %" PRId32 " devices", count);
    const int32_t capacity = count;
    const kallima_status status = kallima_device_list(infos, capacity, &count);
    if (status == KALLIMA_OK)
        (json ? print_json : print_table)(infos, count < capacity ? count : capacity);
    free(infos);
    return status == KALLIMA_OK ? CLI_OK : cli_fail("%s", kallima_last_error());
}
