// SPDX-License-Identifier: MIT
#include "summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "stats.h"
#include "view.h"

enum { CASE = 512, WORST = 3, MAX_NAMED = 4 };

// Who listens.
struct speech {
    const struct results *results;
    summary_say *say;
    void *user;
    const char *heading;
};

// A text that grows; all zero is empty. Where no memory is left it stays as long as it is.
struct text {
    char *start;
    size_t used;
};

static const char *get(const struct text *text)
{
    return text->start ? text->start : "";
}

static void clear(struct text *text)
{
    free(text->start);
    *text = (struct text){ 0 };
}

static void append_list(struct text *text, const char *fmt, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *grown =
        length < 0 ? NULL : realloc(text->start, text->used + (size_t)length + 1);
    if (!grown)
        return;
    text->start = grown;
    vsnprintf(grown + text->used, (size_t)length + 1, fmt, arguments);
    text->used += (size_t)length;
}

static void append(struct text *text, const char *fmt, ...) CLI_PRINTF(2, 3);

static void append(struct text *text, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    append_list(text, fmt, arguments);
    va_end(arguments);
}

static void say(const struct speech *speech, const char *fmt, ...) CLI_PRINTF(2, 3);

static void say(const struct speech *speech, const char *fmt, ...)
{
    struct text sentence = { 0 };
    va_list arguments;
    va_start(arguments, fmt);
    append_list(&sentence, fmt, arguments);
    va_end(arguments);
    speech->say(speech->user, speech->heading, get(&sentence));
    clear(&sentence);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

// --- what went wrong --------------------------------------------------------------------

// "c2c f32 3 (why); c2c f32 5 (why)" of those rows that `is_told` says yes to, the first few;
// returns how many there are, of *rows.
static int print_failures(struct text *text, const struct results *results,
                          const struct technology *technology,
                          bool (*is_told)(const struct row *row), int *rows)
{
    char what[CASE];
    int told = 0;
    *rows = 0;
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->technology, technology->id) != 0)
            continue;
        *rows += 1;
        if (!is_told(row) || told++ >= MAX_NAMED)
            continue;
        view_print_case(row, what, sizeof what);
        append(text, "%s%s (%s)", text->used ? "; " : "", what, row->failed);
    }
    if (told > MAX_NAMED)
        append(text, "; and %d more", told - MAX_NAMED);
    return told;
}

static bool is_unsupported(const struct row *row)
{
    return row->unsupported > 0;
}

static void tell_failures(const struct speech *speech,
                          const struct technology *technology)
{
    struct text text = { 0 };
    int rows;
    if (technology->failed[0])
        say(speech, "%s took no part: %s.", technology->id, technology->failed);
    int count = print_failures(&text, speech->results, technology, row_has_failed, &rows);
    if (count > 0)
        say(speech, "%s has no time in %d of %d cases: %s.", technology->id, count, rows,
            get(&text));
    clear(&text);
    count = print_failures(&text, speech->results, technology, is_unsupported, &rows);
    if (count > 0)
        say(speech, "%s does not support %d of %d cases, which is no failure: %s.",
            technology->id, count, rows, get(&text));
    clear(&text);
}

static void tell_cuts(const struct speech *speech, const struct technology *technology)
{
    const struct results *results = speech->results;
    int rows = 0, cut = 0;
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->technology, technology->id) != 0 || !row_counts(row))
            continue;
        rows++;
        cut += view_is_cut(row);
    }
    if (cut > 0)
        say(speech,
            "%s was told to end planning before it had in %d of %d cases: its times "
            "there "
            "may not be its best. The remark of their rows says so.",
            technology->id, cut, rows);
}

static void tell_errors(const struct speech *speech, const struct technology *technology)
{
    const struct results *results = speech->results;
    const struct row *worst = NULL;
    char what[CASE];
    int above = 0;
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->technology, technology->id) != 0 || !row_counts(row))
            continue;
        above += view_error_share(row) > 1;
        if (!worst || view_error_share(row) > view_error_share(worst))
            worst = row;
    }
    if (above == 0 || !technology_is_kallima(technology))
        return;
    view_print_case(worst, what, sizeof what);
    say(speech,
        "%s has an error above its bound in %d case%s; the worst is %s, %.2f times "
        "the bound.",
        technology->id, above, plural(above), what, view_error_share(worst));
}

// Times that are another's work as much as a library's.
static void tell_load(const struct speech *speech)
{
    const struct machine *machine = &speech->results->machine;
    if (machine->load > machine->processors / 4)
        say(speech,
            "The machine was not idle at the start: its load was %.2f on %.0f "
            "processors. "
            "Times of the processor may be of other work.",
            machine->load, machine->processors);
}

// --- against other libraries ------------------------------------------------------------

static bool is_peer_on(const struct technology *technology, const char *selector)
{
    return !technology_is_kallima(technology) &&
           strcmp(technology->selector, selector) == 0;
}

// A case that Kallima and a peer computed on one device.
struct duel {
    const struct row *ours, *theirs;
    double ratio; // of their time to ours
};

struct duels {
    struct duel *one;
    int count, lost, lost_clearly, won_clearly;
    int cut;                 // those in which the other was told to end planning
    double mean, uncut_mean; // of all; of the others
};

static int compare_duels(const void *left, const void *right)
{
    const double a = ((const struct duel *)left)->ratio;
    const double b = ((const struct duel *)right)->ratio;
    return (a > b) - (a < b);
}

static void collect_duels(struct duels *duels, const struct results *results,
                          const struct technology *technology)
{
    double sum = 0, uncut_sum = 0;
    *duels =
        (struct duels){ .one = calloc((size_t)results->rows + 1, sizeof *duels->one) };
    for (int i = 0; duels->one && i < results->rows; i++) {
        const struct row *ours = &results->row[i];
        if (strcmp(ours->technology, technology->id) != 0 || !row_counts(ours))
            continue;
        const struct row *theirs =
            view_fastest(results, ours, view_median, is_peer_on, technology->selector);
        if (!theirs)
            continue;
        struct duel *duel = &duels->one[duels->count++];
        *duel = (struct duel){ ours, theirs, theirs->median_ms / ours->median_ms };
        sum += log(duel->ratio);
        duels->cut += view_is_cut(theirs);
        uncut_sum += view_is_cut(theirs) ? 0 : log(duel->ratio);
        duels->lost += duel->ratio < 1;
        duels->lost_clearly +=
            duel->ratio < 1 && view_differ(duel->ours, duel->theirs, view_median);
        duels->won_clearly +=
            duel->ratio > 1 && view_differ(duel->ours, duel->theirs, view_median);
    }
    if (duels->count > 0) {
        duels->mean = exp(sum / duels->count);
        duels->uncut_mean = exp(uncut_sum / (duels->count - duels->cut));
        qsort(duels->one, (size_t)duels->count, sizeof *duels->one, compare_duels);
    }
}

static void tell_duels(const struct speech *speech, const struct technology *technology)
{
    struct duels duels;
    struct text worst = { 0 };
    char uncut[128] = "", what[CASE];
    collect_duels(&duels, speech->results, technology);
    if (duels.cut > 0 && duels.cut < duels.count)
        snprintf(uncut, sizeof uncut,
                 ", and %.2f without the %d in which the other's planning was cut",
                 duels.uncut_mean, duels.cut);
    for (int i = 0; i < duels.lost && i < WORST; i++) {
        const struct duel *duel = &duels.one[i];
        view_print_case(duel->ours, what, sizeof what);
        append(&worst, "%s %s (%.2f of the speed of %s%s)", i ? ";" : ":", what,
               duel->ratio, duel->theirs->technology,
               view_differ(duel->ours, duel->theirs, view_median)
                   ? ""
                   : ", within the spread");
    }
    if (duels.count > 0)
        say(speech,
            "%s is slower than the fastest other library there in %d of %d cases, in %d "
            "of "
            "them by more than the spread; it is faster by more than the spread in %d. "
            "The geometric mean of the other's time over Kallima's is %.2f (above 1 "
            "Kallima is faster)%s. %s%s.",
            technology->id, duels.lost, duels.count, duels.lost_clearly,
            duels.won_clearly, duels.mean, uncut,
            duels.lost ? "The worst" : "It loses in none", get(&worst));
    free(duels.one);
    clear(&worst);
}

// --- the fastest of a range -------------------------------------------------------------

// Sizes next to each other with the same winner.
struct range {
    const struct row *first, *last, *winner;
};

// Whether the winner of the sizes before is the fastest here, too, or not told from it.
static bool still_wins(const struct results *results, const struct row *before,
                       const struct row *winner, row_value *value)
{
    const struct row *row = results_find(results, before->technology, winner);
    return row && row_counts(row) && (row == winner || !view_differ(row, winner, value));
}

static int find_ranges(const struct results *results, const struct group *group,
                       row_value *value, struct range *range, int capacity)
{
    struct curve all = { 0 }, one;
    int count = 0;
    // The longest curve names the sizes.
    for (int i = 0; i < results->technologies; i++) {
        view_curve(&one, results, group, &results->technology[i], view_median);
        if (one.count > all.count)
            all = one;
    }
    for (int i = 0; i < all.count; i++) {
        const struct row *winner = view_fastest(results, all.row[i], value, NULL, NULL);
        if (!winner)
            continue;
        if (count > 0 && still_wins(results, range[count - 1].winner, winner, value)) {
            range[count - 1].last = all.row[i];
        } else if (count < capacity) {
            range[count++] = (struct range){ all.row[i], all.row[i], winner };
        }
    }
    return count;
}

static int count_technologies(const struct results *results, const struct group *group)
{
    struct curve curve;
    int count = 0;
    for (int i = 0; i < results->technologies; i++) {
        view_curve(&curve, results, group, &results->technology[i], view_median);
        count += curve.count > 0;
    }
    return count;
}

// "A from 16 to 64; B at 256"; returns whether there is anything.
static bool print_ranges(struct text *text, const struct results *results,
                         const struct group *group, row_value *value)
{
    struct range range[VIEW_POINTS];
    char first[64], last[64];
    const int count = find_ranges(results, group, value, range, VIEW_POINTS);
    for (int i = 0; i < count; i++) {
        view_print_length(range[i].first, first, sizeof first);
        view_print_length(range[i].last, last, sizeof last);
        const bool is_one = strcmp(first, last) == 0;
        append(text, "%s %s %s %s%s%s", i ? ";" : "", range[i].winner->technology,
               is_one ? "at" : "from", first, is_one ? "" : " to ", is_one ? "" : last);
    }
    return count > 0;
}

static void tell_ranges(const struct speech *speech, const struct group *group)
{
    struct text text = { 0 };
    if (!view_is_by_size(speech->results, group) ||
        count_technologies(speech->results, group) < 2)
        return;
    if (print_ranges(&text, speech->results, group, view_median))
        say(speech, "%s: the fastest, or within the spread of it, is%s.", group->title,
            get(&text));
    clear(&text);
    if (view_has(speech->results, group, view_total) &&
        print_ranges(&text, speech->results, group, view_whole))
        say(speech,
            "%s, with transfers: the fastest, or within the spread "
            "of "
            "it, is%s.",
            group->title, get(&text));
    clear(&text);
}

// --- where a device overtakes the processor ---------------------------------------------

static bool is_on_host(const struct technology *technology, const char *selector)
{
    (void)selector;
    return view_is_host(technology);
}

// From which row on, to the last, the curve is below the fastest on the host; NULL: it never
// stays so. *compared: in how many points there is such a one.
static const struct row *find_crossing(const struct results *results,
                                       const struct curve *curve, int *compared)
{
    const struct row *from = NULL;
    *compared = 0;
    for (int i = 0; i < curve->count; i++) {
        const struct row *host =
            view_fastest(results, curve->row[i], view_median, is_on_host, NULL);
        if (!host)
            continue;
        *compared += 1;
        if (curve->value[i] >= host->median_ms)
            from = NULL;
        else if (!from)
            from = curve->row[i];
    }
    return from;
}

static void print_crossing(struct text *text, const struct row *from,
                           const struct curve *curve)
{
    char length[64];
    if (!from) {
        append(text, "at no size");
    } else if (from == curve->row[0]) {
        append(text, "at every size");
    } else {
        view_print_length(from, length, sizeof length);
        append(text, "from %s on", length);
    }
}

// "kallima cuda:0 from 128 on (with transfers at no size)"; nothing if there is no comparison.
static void add_crossing(struct text *text, const struct results *results,
                         const struct group *group, const struct technology *technology)
{
    struct curve alone, with_transfers;
    int compared;
    view_curve(&alone, results, group, technology, view_median);
    view_curve(&with_transfers, results, group, technology, view_total);
    const struct row *from = find_crossing(results, &alone, &compared);
    if (compared == 0)
        return;
    append(text, "%s %s ", text->used ? ";" : "", technology->id);
    print_crossing(text, from, &alone);
    if (with_transfers.count > 0) {
        from = find_crossing(results, &with_transfers, &compared);
        append(text, " (with transfers ");
        print_crossing(text, from, &with_transfers);
        append(text, ")");
    }
}

static void tell_crossing(const struct speech *speech, const struct group *group)
{
    struct text text = { 0 };
    if (!view_is_by_size(speech->results, group))
        return;
    for (int i = 0; i < speech->results->technologies; i++) {
        const struct technology *technology = &speech->results->technology[i];
        if (!view_is_host(technology) && technology_is_kallima(technology))
            add_crossing(&text, speech->results, group, technology);
    }
    if (text.used)
        say(speech, "%s: faster than the fastest library on the processor is%s.",
            group->title, get(&text));
    clear(&text);
}

// --- how far from the device's limits ---------------------------------------------------

static double mean_of(const struct curve *curve)
{
    return stats_geometric_mean(curve->value, curve->count);
}

static void tell_copies(const struct speech *speech, const struct group *group)
{
    const struct results *results = speech->results;
    struct curve curve;
    struct text text = { 0 };
    int cases = 0;
    if (strcmp(group->shows, "size") != 0)
        return;
    for (int i = 0; i < results->technologies; i++) {
        view_curve(&curve, results, group, &results->technology[i], view_x_copy);
        if (curve.count == 0)
            continue;
        append(&text, "%s %s %.2f", text.used ? ";" : "", results->technology[i].id,
               mean_of(&curve));
        cases = cases ? cases : curve.count;
        if (curve.count != cases)
            append(&text, " (%d case%s)", curve.count, plural(curve.count));
    }
    if (text.used)
        say(speech,
            "%s, where at least " VIEW_LARGE
            " are read and written: of the speed of a copy on its device, as a "
            "geometric mean of %d case%s, reaches%s.",
            group->title, cases, plural(cases), get(&text));
    clear(&text);
}

// --- what choices cost ------------------------------------------------------------------

// The row of the same technology that differs from `row` in what `is_other` says.
static const struct row *find_other(const struct results *results, const struct row *row,
                                    bool (*is_other)(const struct row *a,
                                                     const struct row *b))
{
    for (int i = 0; i < results->rows; i++) {
        const struct row *other = &results->row[i];
        if (strcmp(other->technology, row->technology) == 0 && row_counts(other) &&
            strcmp(other->lengths, row->lengths) == 0 &&
            strcmp(other->kind, row->kind) == 0 &&
            strcmp(other->direction, row->direction) == 0 &&
            strcmp(other->layout, row->layout) == 0 && !other->asked[0] &&
            is_other(row, other))
            return other;
    }
    return NULL;
}

// Batches may differ: both are long.
static bool is_double(const struct row *a, const struct row *b)
{
    return strcmp(a->precision, "f32") == 0 && strcmp(b->precision, "f64") == 0 &&
           strcmp(a->placement, b->placement) == 0 && (a->batch > 1) == (b->batch > 1);
}

static bool is_within(const struct row *a, const struct row *b)
{
    return strcmp(a->precision, b->precision) == 0 && a->batch == b->batch &&
           strcmp(a->placement, "out-of-place") == 0 &&
           strcmp(b->placement, "in-place") == 0;
}

// The geometric mean of the speed of the others over that of the ones.
static void tell_choice(const struct speech *speech, const struct technology *technology,
                        bool (*is_other)(const struct row *a, const struct row *b),
                        const char *what)
{
    const struct results *results = speech->results;
    double sum = 0;
    int count = 0;
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->technology, technology->id) != 0 || !row_counts(row) ||
            row->asked[0])
            continue;
        const struct row *other = find_other(results, row, is_other);
        if (!other || !(row->gflops > 0) || !(other->gflops > 0))
            continue;
        sum += log(other->gflops / row->gflops);
        count++;
    }
    if (count > 0)
        say(speech, "%s: %s has %.2f of the speed, as a geometric mean of %d case%s.",
            technology->id, what, exp(sum / count), count, plural(count));
}

// "cuda:0 64 (16 has 0.25 of its speed)"
static void add_variants(struct text *text, const struct curve *curve)
{
    int best = 0, worst = 0;
    for (int i = 0; i < curve->count; i++) {
        if (curve->value[i] < curve->value[best])
            best = i;
        if (curve->value[i] > curve->value[worst])
            worst = i;
    }
    if (curve->count > 1)
        append(text, "%s on %s %s (%s has %.2f of its speed)", text->used ? ";" : "",
               curve->technology->selector, curve->row[best]->variant,
               curve->row[worst]->variant, curve->value[best] / curve->value[worst]);
}

static void tell_variants(const struct speech *speech, const struct group *group)
{
    struct curve curve;
    struct text text = { 0 };
    if (strcmp(group->shows, "variant") != 0)
        return;
    for (int i = 0; i < speech->results->technologies; i++) {
        view_curve(&curve, speech->results, group, &speech->results->technology[i],
                   view_median);
        add_variants(&text, &curve);
    }
    if (text.used)
        say(speech, "%s: the fastest is%s.", group->title, get(&text));
    clear(&text);
}

// --- planning ---------------------------------------------------------------------------

static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(const struct results *results,
                        const struct technology *technology, row_value *value)
{
    double *number = malloc(((size_t)results->rows + 1) * sizeof *number);
    int count = 0;
    for (int i = 0; number && i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->technology, technology->id) == 0 && row_counts(row) &&
            value(row) >= 0)
            number[count++] = value(row);
    }
    if (number)
        qsort(number, (size_t)count, sizeof *number, compare_numbers);
    const double median = count > 0 ? stats_quantile(number, count, 0.5) : NAN;
    free(number);
    return median;
}

static void tell_planning(const struct speech *speech)
{
    const struct results *results = speech->results;
    struct text text = { 0 };
    for (int i = 0; i < results->technologies; i++) {
        const struct technology *technology = &results->technology[i];
        const double cold = median_of(results, technology, view_plan);
        if (isfinite(cold))
            append(&text, "%s %s %.3g and %.3g", text.used ? ";" : "", technology->id,
                   cold, median_of(results, technology, view_replan));
    }
    if (text.used)
        say(speech,
            "Milliseconds to plan a problem the first and the second time, medians of "
            "all "
            "cases:%s.",
            get(&text));
    clear(&text);
}

// --- all of it --------------------------------------------------------------------------

typedef void tell_technology(const struct speech *speech,
                             const struct technology *technology);

static void for_technologies(const struct speech *speech, tell_technology *tell,
                             bool kallima_alone)
{
    for (int i = 0; i < speech->results->technologies; i++) {
        const struct technology *technology = &speech->results->technology[i];
        if (!kallima_alone || technology_is_kallima(technology))
            tell(speech, technology);
    }
}

void summary_tell(const struct results *results, summary_say *listener, void *user)
{
    struct speech speech = { results, listener, user, "What to mind" };
    tell_load(&speech);
    for_technologies(&speech, tell_errors, true);
    for_technologies(&speech, tell_failures, false);
    for_technologies(&speech, tell_cuts, false);
    speech.heading = "Kallima against other libraries on the same device";
    for_technologies(&speech, tell_duels, true);
    speech.heading = "The fastest of a range";
    for (int i = 0; i < results->groups; i++)
        tell_ranges(&speech, &results->group[i]);
    speech.heading = "From which size on a device is worth it";
    for (int i = 0; i < results->groups; i++)
        tell_crossing(&speech, &results->group[i]);
    speech.heading = "How near to the speed of memory";
    for (int i = 0; i < results->groups; i++)
        tell_copies(&speech, &results->group[i]);
    speech.heading = "What choices cost";
    for (int i = 0; i < results->technologies; i++) {
        tell_choice(&speech, &results->technology[i], is_double, "f64");
        tell_choice(&speech, &results->technology[i], is_within, "in place");
    }
    for (int i = 0; i < results->groups; i++)
        tell_variants(&speech, &results->group[i]);
    speech.heading = "Planning";
    tell_planning(&speech);
}
