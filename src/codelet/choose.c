// SPDX-License-Identifier: MIT
#include "codelet/choose.h"

#include "codelet/fuse.h"
#include "codelet/sharpen.h"

int kal_codelet_inputs(enum kal_codelet_kind kind, int n)
{
    return kind == KAL_CODELET_C2C   ? 2 * n
           : kind == KAL_CODELET_R2C ? n + n % 2
                                     : 2 * (n / 2 + 1);
}

int kal_codelet_outputs(enum kal_codelet_kind kind, int n)
{
    return kind == KAL_CODELET_C2C   ? 2 * n
           : kind == KAL_CODELET_R2C ? 2 * (n / 2 + 1)
                                     : n + n % 2;
}

static void write_r2c(struct kal_network *net, const struct kal_forms *forms, int n)
{
    struct kal_dag *g = &net->dag;
    struct kal_cx x[KAL_CODELET_MAX], y[KAL_CODELET_MAX];

    for (int j = 0; j < n; j++)
        x[j] = (struct kal_cx){ kal_input(g, j), kal_zero() };
    kal_dag_dft(g, forms, n, x, y);
    for (int k = 0; k <= n / 2; k++) {
        net->output[2 * k] = y[k].re;
        net->output[2 * k + 1] = y[k].im;
    }
}

// The forward transform of the conjugate spectrum: that of reals is their conjugate.
static void write_c2r(struct kal_network *net, const struct kal_forms *forms, int n)
{
    struct kal_dag *g = &net->dag;
    struct kal_cx x[KAL_CODELET_MAX], y[KAL_CODELET_MAX];

    for (int k = 0; k <= n / 2; k++) {
        const kal_node re = kal_input(g, 2 * k);
        const bool is_real = k == 0 || 2 * k == n;
        const kal_node im = is_real ? kal_zero() : kal_input(g, 2 * k + 1);
        x[k] = (struct kal_cx){ re, kal_neg(g, im) };
        if (k > 0)
            x[n - k] = (struct kal_cx){ re, im };
    }
    kal_dag_dft(g, forms, n, x, y);
    for (int j = 0; j < n; j++)
        net->output[j] = y[j].re;
    net->output[n] = kal_zero();
}

// The inverse transform is the forward one with real and imaginary parts exchanged.
static void write_c2c(struct kal_network *net, const struct kal_forms *forms, int n,
                      bool inverse)
{
    const int re = inverse, im = !inverse;
    struct kal_dag *g = &net->dag;
    struct kal_cx x[KAL_CODELET_MAX], y[KAL_CODELET_MAX];

    for (int j = 0; j < n; j++)
        x[j] = (struct kal_cx){ kal_input(g, 2 * j + re), kal_input(g, 2 * j + im) };
    kal_dag_dft(g, forms, n, x, y);
    for (int k = 0; k < n; k++) {
        net->output[2 * k + re] = y[k].re;
        net->output[2 * k + im] = y[k].im;
    }
}

static void write_dft(struct kal_network *net, const struct kal_forms *forms,
                      enum kal_codelet_kind kind, int n, bool inverse)
{
    if (kind == KAL_CODELET_C2C)
        write_c2c(net, forms, n, inverse);
    else if (kind == KAL_CODELET_R2C)
        write_r2c(net, forms, n);
    else
        write_c2r(net, forms, n);
    net->outputs = kal_codelet_outputs(kind, n);
}

// The transpose of `net`, as a network of its own.
static void write_transpose(struct kal_network *out, const struct kal_network *net)
{
    kal_node seed[KAL_NETWORK_MAX];

    for (int o = 0; o < net->outputs; o++)
        seed[o] = kal_input(&out->dag, o);
    kal_network_transpose(&out->dag, net, seed, out->output);
    out->outputs = net->inputs;
}

// Simplify by writing the transpose of the transpose.
static void write_simplified(struct kal_network *out, const struct kal_network *net)
{
    struct kal_network middle;

    kal_network_init(&middle, net->dag.host, net->outputs);
    write_transpose(&middle, net);
    write_transpose(out, &middle);
    kal_network_clear(&middle);
}

// Keep the cheaper of two networks in `best`, and clear the other.
static kallima_status keep_cheaper(struct kal_network *best, struct kal_network *other)
{
    struct kal_ops old, new;

    KAL_TRY(kal_network_count(best, &old));
    KAL_TRY(kal_network_count(other, &new));
    if (kal_ops_total(&new) < kal_ops_total(&old)) {
        const struct kal_network swap = *best;
        *best = *other;
        *other = swap;
    }
    return KALLIMA_OK;
}

static void finish(struct kal_network *net, struct kal_aim aim)
{
    if (aim.flavour == KAL_PLAIN && !aim.is_accurate)
        return;

    struct kal_network finished;
    kal_network_init(&finished, net->dag.host, net->inputs);
    if (aim.flavour == KAL_FMA)
        kal_network_fuse(&finished, net);
    else
        kal_network_sharpen(&finished, net);
    kal_network_clear(net);
    *net = finished;
}

kallima_status kal_dft_network(struct kal_network *out, const struct kal_host *host,
                               struct kal_aim aim, const struct kal_forms *forms, int n,
                               bool inverse)
{
    struct kal_network other;

    const int inputs = kal_codelet_inputs(aim.kind, n);
    kal_network_init(out, host, inputs);
    kal_network_init(&other, host, inputs);
    write_dft(out, forms, aim.kind, n, inverse);
    write_simplified(&other, out);
    finish(out, aim);
    finish(&other, aim);
    const kallima_status status = keep_cheaper(out, &other);
    kal_network_clear(&other);
    // Numbers are read as wholes: also parts that nothing needs are there.
    for (int i = 0; i < inputs; i++)
        kal_input(&out->dag, i);
    return status;
}

static kallima_status measure(const struct kal_host *host, struct kal_aim aim,
                              const struct kal_forms *forms, int n, int32_t *cost)
{
    struct kal_network net;
    struct kal_ops ops = { 0 };

    kallima_status status = kal_dft_network(&net, host, aim, forms, n, false);
    if (status == KALLIMA_OK)
        status = kal_network_count(&net, &ops);
    kal_network_clear(&net);
    *cost = kal_ops_total(&ops);
    return status;
}

static bool is_chosen(const struct kal_forms *forms, int n)
{
    return n <= 2 || forms->at[n].kind != KAL_FORM_TINY;
}

static kallima_status choose(const struct kal_host *host, struct kal_aim aim, int n,
                             struct kal_forms *forms)
{
    const struct kal_aim part = { aim.flavour, aim.is_accurate, KAL_CODELET_C2C };
    struct kal_form best = { KAL_FORM_TINY, 0 };
    int32_t best_cost = INT32_MAX;

    if (is_chosen(forms, n))
        return KALLIMA_OK;
    for (int code = 0; code < KAL_FORM_COUNT * n; code++) {
        const struct kal_form form = { (enum kal_form_kind)(code / n), code % n };
        int32_t cost;
        int child[2];
        if (!kal_form_applies(form, n) ||
            (aim.is_accurate && form.kind == KAL_FORM_RADER))
            continue;
        for (int i = kal_form_children(form, n, child); i-- > 0;)
            KAL_TRY(choose(host, part, child[i], forms));
        forms->at[n] = form;
        KAL_TRY(measure(host, aim, forms, n, &cost));
        if (cost < best_cost) {
            best = form;
            best_cost = cost;
        }
        forms->at[n] = (struct kal_form){ KAL_FORM_TINY, 0 };
    }
    forms->at[n] = best;
    return KALLIMA_OK;
}

kallima_status kal_forms_choose(const struct kal_host *host, struct kal_aim aim, int n,
                                struct kal_forms *forms)
{
    *forms = (struct kal_forms){ 0 };
    return choose(host, aim, n, forms);
}
