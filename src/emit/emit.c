// SPDX-License-Identifier: MIT
#include "emit/emit.h"

#include <stdio.h>

enum { NAME_BYTES = 32, EXPRESSION_BYTES = 160 };

struct emitter {
    struct kal_text *text;
    const struct kal_dialect *dialect;
    const struct kal_codelet *codelet;
    const char *suffix; // of literals
};

static const char *operand(const struct kal_operands *args, char letter)
{
    switch (letter) {
    case 'a': return args->a;
    case 'b': return args->b;
    case 'c': return args->c;
    case 'f': return args->f;
    case 'n': return args->n;
    default: return "$";
    }
}

void kal_emit_pattern(struct kal_text *text, const char *pattern,
                      const struct kal_operands *args)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == '$' && p[1])
            kal_text_add(text, "%s", operand(args, *++p));
        else
            kal_text_add(text, "%c", *p);
    }
}

// Number k of what is read is x[k] or, behind those, w[k - n + 1].
static int32_t number_of(const struct emitter *e, int32_t input)
{
    const int32_t k = input / 2, n = e->codelet->spec.n;
    return k < n ? k : k - n + 1;
}

// Values are called after their place in the graph: k for constants, t for what is
// computed; or x and w after what is read.
static void name_node(const struct emitter *e, int32_t id, char name[NAME_BYTES])
{
    const struct kal_dag_entry *entry = &e->codelet->net.dag.entry[id];
    const int32_t input = entry->a;
    if (entry->op == KAL_OP_CONST)
        snprintf(name, NAME_BYTES, "k%d", (int)id);
    else if (entry->op != KAL_OP_INPUT)
        snprintf(name, NAME_BYTES, "t%d", (int)id);
    else
        snprintf(name, NAME_BYTES, "%c%c%d", input < 2 * e->codelet->spec.n ? 'x' : 'w',
                 input % 2 ? 'i' : 'r', (int)number_of(e, input));
}

static void emit_value(const struct emitter *e, int32_t id, const char *expression,
                       const struct kal_operands *args)
{
    char name[NAME_BYTES];
    struct kal_text inner;

    name_node(e, id, name);
    kal_text_init(&inner, e->text->host);
    kal_emit_pattern(&inner, expression, args);
    if (inner.status && !e->text->status)
        e->text->status = inner.status;
    kal_emit_pattern(
        e->text, e->dialect->value,
        &(struct kal_operands){ .a = name, .b = inner.data ? inner.data : "" });
    kal_text_clear(&inner);
}

// Both parts of number `index`, by a statement.
static void emit_pair(const struct emitter *e, const struct kal_event *step,
                      const char *statement)
{
    char index[NAME_BYTES], length[NAME_BYTES], re[NAME_BYTES], im[NAME_BYTES];

    snprintf(index, sizeof index, "%d", (int)step->index);
    snprintf(length, sizeof length, "%d", e->codelet->spec.n);
    name_node(e, step->node[0], re);
    name_node(e, step->node[1], im);
    kal_emit_pattern(e->text, statement,
                     &(struct kal_operands){ .a = index, .b = re, .c = im, .n = length });
}

// Is number `index` of a real side, which is read or written in pairs, without another one?
static bool is_alone(const struct emitter *e, enum kal_codelet_kind kind, int32_t index)
{
    const struct kal_codelet_spec *spec = &e->codelet->spec;
    return spec->kind == kind && 2 * index + 1 == spec->n;
}

static void emit_load(const struct emitter *e, const struct kal_event *step)
{
    emit_pair(e, step,
              is_alone(e, KAL_CODELET_R2C, step->index) ? e->dialect->alone[0]
                                                        : e->dialect->load);
}

// The statement that stores number `index`, and whether that has two parts.
static const char *find_store(const struct emitter *e, int32_t index, bool *has_two)
{
    const int n = e->codelet->spec.n;

    *has_two = true;
    if (e->codelet->spec.kind == KAL_CODELET_R2C) {
        *has_two = index > 0 && 2 * index < n;
        return e->dialect->coefficient[*has_two];
    }
    *has_two = !is_alone(e, KAL_CODELET_C2R, index);
    return *has_two ? e->dialect->store : e->dialect->alone[1];
}

static void emit_store(const struct emitter *e, const struct kal_event *step)
{
    bool has_two;
    emit_pair(e, step, find_store(e, step->index, &has_two));
}

static void emit_factor(const struct emitter *e, const struct kal_event *step)
{
    char index[NAME_BYTES];

    snprintf(index, sizeof index, "%d", (int)number_of(e, step->index));
    emit_value(e, step->node[0], e->dialect->factor[step->index % 2],
               &(struct kal_operands){ .a = index });
}

static void emit_compute(const struct emitter *e, const struct kal_event *step)
{
    const struct kal_dag_entry *entry = &e->codelet->net.dag.entry[step->node[0]];
    char a[NAME_BYTES], b[NAME_BYTES], c[NAME_BYTES];

    name_node(e, entry->a, a);
    name_node(e, entry->b, b);
    name_node(e, entry->c, c);
    emit_value(e, step->node[0], e->dialect->op[entry->op],
               &(struct kal_operands){ .a = a, .b = b, .c = c });
}

static void emit_steps(const struct emitter *e)
{
    static void (*const emit[])(const struct emitter *, const struct kal_event *) = {
        [KAL_STEP_LOAD] = emit_load,
        [KAL_STEP_FACTOR] = emit_factor,
        [KAL_STEP_COMPUTE] = emit_compute,
        [KAL_STEP_STORE] = emit_store,
    };
    const struct kal_schedule *s = &e->codelet->schedule;
    for (int32_t i = 0; i < s->count; i++)
        emit[s->step[i].kind](e, &s->step[i]);
}

// Digits enough for 113 bits, whatever the type that the reader rounds them to.
static void emit_constants(const struct emitter *e, const int32_t *uses)
{
    const struct kal_dag *g = &e->codelet->net.dag;
    char name[NAME_BYTES], literal[EXPRESSION_BYTES];

    for (int32_t id = 0; id < g->count; id++) {
        if (g->entry[id].op != KAL_OP_CONST || uses[id] == 0)
            continue;
        name_node(e, id, name);
        snprintf(literal, sizeof literal, "%.24Lf", g->entry[id].value);
        kal_emit_pattern(
            e->text, e->dialect->constant,
            &(struct kal_operands){ .a = name, .b = literal, .c = e->suffix });
    }
}

static void emit_comment(const struct emitter *e)
{
    static const char *const kind[] = {
        [KAL_CODELET_C2C] = "",
        [KAL_CODELET_R2C] = ", of reals",
        [KAL_CODELET_C2R] = ", to reals",
    };
    const struct kal_codelet *c = e->codelet;
    const bool is_inverse = c->spec.inverse || c->spec.kind == KAL_CODELET_C2R;
    kal_text_add(
        e->text,
        "// Length %d, %s%s%s: %d additions, %d multiplications, %d fused; at most %d "
        "values alive.\n",
        c->spec.n, is_inverse ? "inverse" : "forward", kind[c->spec.kind],
        c->spec.twiddled ? ", twiddled" : "", (int)c->ops.additions,
        (int)c->ops.multiplications, (int)c->ops.fused, (int)c->schedule.live);
}

void kal_emit_codelet(struct kal_text *text, const struct kal_dialect *dialect,
                      const struct kal_codelet *codelet, bool is_f64, const char *name)
{
    const char *suffix = dialect->suffix[is_f64];
    const struct emitter e = { text, dialect, codelet, suffix ? suffix : "" };
    char length[NAME_BYTES];
    int32_t *uses;

    const kallima_status status = kal_network_count_uses(&codelet->net, &uses);
    if (status) {
        if (!text->status)
            text->status = status;
        return;
    }
    for (int o = 0; o < codelet->net.outputs; o += 2) {
        bool has_two;
        find_store(&e, o / 2, &has_two);
        uses[codelet->net.output[o + 1].id] -= !has_two;
    }
    emit_comment(&e);
    snprintf(length, sizeof length, "%d", codelet->spec.n);
    kal_emit_pattern(text,
                     codelet->spec.twiddled ? dialect->open_twiddled : dialect->open,
                     &(struct kal_operands){ .f = name, .n = length });
    emit_constants(&e, uses);
    emit_steps(&e);
    kal_emit_pattern(text, dialect->close, &(struct kal_operands){ 0 });
    kal_free(codelet->net.dag.host, uses);
}
