// SPDX-License-Identifier: MIT
// Passes as text, and what they cost.
#include "pass/pass.h"

#include "factor/radix.h"

static const char *const buffer_names[KAL_BUFFER_COUNT] = { "in", "out", "shared",
                                                            "chunk" };

static void print_step(struct kal_text *text, const struct kal_step *step)
{
    static const char *const names[] = { "dft", "rader", "product", "split", "merge" };
    if (step->op == KAL_STEP_DFT)
        kal_text_add(text, " %d", step->radix);
    else
        kal_text_add(text, " %s(%lld)", names[step->op], (long long)step->n);
}

static void print_side(struct kal_text *text, const struct kal_side *side)
{
    kal_text_add(text, "%s", buffer_names[side->buffer]);
    if (side->is_swapped)
        kal_text_add(text, " exchanged");
    if (side->map_step > 1)
        kal_text_add(text, " every(%lld)", (long long)side->map_step);
    if (side->index)
        kal_text_add(text, " indexed");
    if (side->mirror_n)
        kal_text_add(text, " mirrored(%lld)", (long long)side->mirror_n);
    if (side->chirp_n)
        kal_text_add(text, " chirp");
    if (side->twiddle_n)
        kal_text_add(text, " twiddle(%lld)", (long long)side->twiddle_n);
}

static void print_loops(struct kal_text *text, const char *label,
                        const struct kal_loop *loop, int count)
{
    int64_t lines = 1;
    for (int i = 0; i < count; i++)
        lines *= loop[i].count;
    if (lines > 1)
        kal_text_add(text, " %s=%lld", label, (long long)lines);
}

static void print_pass(struct kal_text *text, const struct kal_program *program, int i)
{
    const struct kal_pass *p = program->pass[i];
    const struct kal_loop *lines = p->loops + p->stage_loops;

    kal_text_add(text, "pass %-3d n=%lld", i, (long long)p->n);
    print_loops(text, "stage", p->loops, p->stage_loops);
    print_loops(text, "lines", lines, p->line_loops);
    print_loops(text, "inner", lines + p->line_loops, p->inner_loops);
    kal_text_add(text, ": ");
    print_side(text, &p->in);
    kal_text_add(text, " ->");
    for (int k = 0; k < p->step_count; k++)
        print_step(text, &p->step[k]);
    kal_text_add(text, p->step_count ? " -> " : " ");
    print_side(text, &p->out);
    if (p->scale != 1.0)
        kal_text_add(text, " scale %.17g", p->scale);
    kal_text_add(text, "\n");
}

void kal_program_print(struct kal_text *text, const struct kal_program *program)
{
    for (int i = 0; i < program->stage_count; i++) {
        const struct kal_stage *stage = &program->stage[i];
        for (int j = 0; j < stage->phase_count; j++) {
            const struct kal_phase *phase = &program->phase[stage->first_phase + j];
            kal_text_add(text, "phase %-2d chunks of %lld lines, on %s\n",
                         stage->first_phase + j, (long long)phase->chunk,
                         phase->lanes_are_lines ? "lanes" : "threads");
            for (int k = 0; k < phase->pass_count; k++)
                print_pass(text, program, phase->first_pass + k);
        }
    }
}

static double step_operations(const struct kal_step *s)
{
    switch (s->op) {
    case KAL_STEP_DFT: {
        const double codelets = (double)(s->m * s->s * s->outer);
        const double twiddles = (double)((s->m - 1) * s->s * s->outer * (s->radix - 1));
        return codelets * kal_radix_operations(s->radix) + 6.0 * twiddles;
    }
    case KAL_STEP_RADER: return 6.0 * (double)(s->n - 1);
    case KAL_STEP_PRODUCT: return 6.0 * (double)s->size;
    case KAL_STEP_SPLIT: return 18.0 / 4.0 * (double)(s->n * s->outer);
    case KAL_STEP_MERGE: return 14.0 / 4.0 * (double)(s->n * s->outer);
    }
    return 0.0;
}

double kal_pass_operations(const struct kal_pass *p)
{
    double lines = 1.0, operations = 0.0;
    for (int k = 0; k < p->stage_loops + p->line_loops + p->inner_loops; k++)
        lines *= (double)p->loops[k].count;
    for (int k = 0; k < p->step_count; k++)
        operations += step_operations(&p->step[k]);
    operations += p->in.chirp_n ? 6.0 * (double)p->in.chirp_n : 0.0;
    operations += p->out.chirp_n ? 6.0 * (double)p->out.chirp_n : 0.0;
    operations += p->out.twiddle_n ? 6.0 * (double)p->n : 0.0;
    operations += p->scale != 1.0 ? 2.0 * (double)p->n : 0.0;
    return lines * operations;
}

struct kal_cost kal_program_count(const struct kal_program *program,
                                  const struct kal_problem *problem)
{
    const double complex_bytes = problem->precision == KALLIMA_F64 ? 16.0 : 8.0;
    struct kal_cost cost = { 0.0, 0.0 };

    for (int i = 0; i < program->pass_count; i++) {
        const struct kal_pass *p = program->pass[i];
        double lines = 1.0;
        for (int k = 0; k < p->stage_loops + p->line_loops + p->inner_loops; k++)
            lines *= (double)p->loops[k].count;
        const double loaded =
            (double)kal_min(p->n, p->in.count) * (p->in.is_real ? 0.5 : 1.0);
        const double stored =
            (double)kal_min(p->n, p->out.count) * (p->out.is_real ? 0.5 : 1.0);
        cost.bytes += lines * complex_bytes * (loaded + stored);
        cost.operations += kal_pass_operations(p);
    }
    return cost;
}
