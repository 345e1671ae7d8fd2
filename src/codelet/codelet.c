// SPDX-License-Identifier: MIT
#include "codelet/codelet.h"

// y * w, by four multiplications, two of them fused if that is the flavour.
static struct kal_cx multiply(struct kal_dag *g, enum kal_flavour flavour,
                              struct kal_cx y, struct kal_cx w)
{
    const kal_node re = kal_mul(g, y.re, w.re), im = kal_mul(g, y.re, w.im);
    if (flavour == KAL_FMA)
        return (struct kal_cx){ kal_raw(g, KAL_OP_FNMA, y.im, w.im, re),
                                kal_raw(g, KAL_OP_FMA, y.im, w.re, im) };
    return (struct kal_cx){ kal_sub(g, re, kal_mul(g, y.im, w.im)),
                            kal_add(g, im, kal_mul(g, y.im, w.re)) };
}

static void add_twiddles(struct kal_network *net, const struct kal_codelet_spec *spec)
{
    struct kal_dag *g = &net->dag;
    for (int k = 1; k < spec->n; k++) {
        const int at = 2 * spec->n + 2 * (k - 1);
        const struct kal_cx w = { kal_input(g, at), kal_input(g, at + 1) };
        kal_node *out = &net->output[2 * k];
        const struct kal_cx y = { out[0], out[1] };
        const struct kal_cx product = multiply(g, spec->flavour, y, w);
        out[0] = product.re;
        out[1] = product.im;
    }
    net->inputs = 4 * spec->n - 2;
}

static kallima_status compile(struct kal_codelet *c, const struct kal_host *host)
{
    const struct kal_codelet_spec *spec = &c->spec;
    const struct kal_aim aim = { spec->flavour, spec->is_accurate, spec->kind };
    struct kal_forms forms;

    KAL_TRY(kal_forms_choose(host, aim, spec->n, &forms));
    KAL_TRY(kal_dft_network(&c->net, host, aim, &forms, spec->n, spec->inverse));
    if (spec->twiddled)
        add_twiddles(&c->net, spec);
    KAL_TRY(kal_network_count(&c->net, &c->ops));
    return kal_schedule_build(&c->schedule, &c->net,
                              kal_codelet_inputs(spec->kind, spec->n));
}

kallima_status kal_codelet_build(struct kal_codelet *out, const struct kal_host *host,
                                 const struct kal_codelet_spec *spec)
{
    *out = (struct kal_codelet){ .spec = *spec,
                                 .net.dag.host = host,
                                 .schedule.host = host };
    KAL_REQUIRE(host, spec->n >= 2 && spec->n <= KAL_CODELET_MAX);
    KAL_REQUIRE(host,
                spec->kind == KAL_CODELET_C2C || (!spec->inverse && !spec->twiddled));
    return compile(out, host);
}

void kal_codelet_clear(struct kal_codelet *codelet)
{
    kal_network_clear(&codelet->net);
    kal_schedule_clear(&codelet->schedule);
}
