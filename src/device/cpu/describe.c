// SPDX-License-Identifier: MIT
// What a program says of itself.
#include "device/cpu/facing.h"
#include "device/cpu/line.h"

static bool has_groups(const struct cpu_pass *pass)
{
    for (int i = 0; i < pass->pass->step_count; i++) {
        if (pass->step[i].groups)
            return true;
    }
    return false;
}

// The level of a pass, and what its lines are to that.
static const char *describe_level(const struct cpu_pass *pass, const char **way)
{
    const bool has_pairs = pass->step[0].pairs && !pass->turned.run;

    *way = "";
    if (pass->line) {
        *way = ", line by line";
        return pass->line->kernels->level;
    }
    if (pass->facing)
        *way = pass->facing->is_split ? ", mirrored as it is stored"
                                      : ", mirrored as it is read";
    else if (pass->row)
        *way = ", row by row";
    else if (pass->is_done)
        *way = ", by a neighbour";
    else if (pass->beside.run || pass->turned.count > 1)
        *way = ", a number of several lines in each register";
    else if (pass->turned.run && pass->kernels->lanes > 1)
        *way = ", turned in registers";
    else if (has_pairs)
        *way = has_groups(pass) ? ", neighbours of a line in each register"
                                : ", a number in each register";
    return has_pairs ? pass->widest->level : pass->kernels->level;
}

static void describe_copies(const struct cpu_copied *copied, struct kal_text *text)
{
    kal_text_add(text, "copies   of lines, %lld at once", (long long)copied->at_once);
    if (copied->together > copied->at_once)
        kal_text_add(text, ", %lld copied together%s", (long long)copied->together,
                     copied->are_shared    ? ", each worked by all threads"
                     : copied->has_meeting ? ", threads meet between"
                                           : "");
    kal_text_add(text, ":\n");
}

void kal_cpu_program_describe(const struct kal_device_program *base,
                              struct kal_text *text)
{
    const struct cpu_program *program = (const struct cpu_program *)base;

    if (program->single == CPU_SINGLE_DIVIDED) {
        kal_text_add(text, "arrays   of all axes but the first:\n");
        kal_cpu_program_describe(program->divided.inner, text);
        kal_text_add(text, "columns  of that one:\n");
        kal_cpu_program_describe(program->divided.columns, text);
        return;
    }
    kal_text_add(text, "threads %d\n", program->threads);
    if (program->single == CPU_SINGLE_ARRAY) {
        kal_text_add(text, "axes     %s, numbers in registers, from tile to tile\n",
                     program->pass[0].widest->level);
        return;
    }
    if (program->single == CPU_SINGLE_COPIED) {
        describe_copies(&program->copied, text);
        kal_cpu_program_describe(program->copied.lines, text);
        return;
    }
    if (program->single == CPU_SINGLE_CONVOLVED) {
        kal_text_add(text, "convolution of each line, by two transforms:\n");
        kal_cpu_program_describe(program->convolved.line, text);
        return;
    }
    if (program->single == CPU_SINGLE_APART) {
        kal_text_add(text, "lines    %s first, where they lie\n",
                     program->apart.part[0].level);
        return;
    }
    for (int i = 0; i < program->program->pass_count;
         i += kal_cpu_passes_of(&program->pass[i])) {
        const struct cpu_pass *pass = &program->pass[i];
        const char *way, *level = describe_level(pass, &way);
        kal_text_add(text, "pass %-3d %s%s", i, level, way);
        if (!program->single) // one line has nothing to fetch, and nothing to drive out
            kal_text_add(text, "%s%s",
                         pass->is_far && !pass->line ? ", fetched ahead" : "",
                         pass->is_streamed ? ", stored past the caches" : "");
        kal_text_add(text, "\n");
    }
}
