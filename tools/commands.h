// SPDX-License-Identifier: MIT
// The subcommands, one file each: cmd_<name>.c.
#ifndef KALLIMA_TOOLS_COMMANDS_H_
#define KALLIMA_TOOLS_COMMANDS_H_

#include "cli.h"

/** Run a subcommand; argv[0] is its name. Return the exit status. */
typedef int command(const struct cli *cli, int argc, char **argv);

command cmd_bench;
command cmd_codelet;
command cmd_compare;
command cmd_devices;
command cmd_good_size;
command cmd_image_convolve;
command cmd_image_filter;
command cmd_image_spectrum;
command cmd_plan;
command cmd_transform;
command cmd_tune;
command cmd_verify;
command cmd_wisdom_check;
command cmd_wisdom_forget;
command cmd_wisdom_list;
command cmd_wisdom_merge;
command cmd_wisdom_show;

#endif
