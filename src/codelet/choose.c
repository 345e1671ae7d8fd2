// SPDX-License-Identifier: MIT
#include "codelet/choose.h"

#include "codelet/fuse.h"
#include "codelet/sharpen.h"

// The inverse transform is the forward one with real and imaginary parts exchanged.
static void write_dft(struct kal_network *net, const struct kal_forms *forms, int n,
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
    net->outputs = 2 * n;
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

    kal_network_init(out, host, 2 * n);
    kal_network_init(&other, host, 2 * n);
    write_dft(out, forms, n, inverse);
    write_simplified(&other, out);
    finish(out, aim);
    finish(&other, aim);
    const kallima_status status = keep_cheaper(out, &other);
    kal_network_clear(&other);
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
            KAL_TRY(choose(host, aim, child[i], forms));
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
