// SPDX-License-Identifier: MIT
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_problem.h"
#include "bench_selector.h"
#include "serve.h"

// --- numbers ----------------------------------------------------------------------------

double view_median(const struct row *row)
{
    return row->median_ms;
}

double view_gflops(const struct row *row)
{
    return row->gflops;
}

// What lies in a cache is copied there: that says nothing of the memory.
double view_x_copy(const struct row *row)
{
    return row->bytes >= VIEW_LARGE_BYTES ? row->x_copy : NAN;
}

double view_copy_gflops(const struct row *row)
{
    return row->gflops / view_x_copy(row);
}

double view_total(const struct row *row)
{
    return row->total_ms;
}

double view_whole(const struct row *row)
{
    const char *selector = strrchr(row->technology, ' ');
    return selector && bench_is_host(selector + 1) ? row->median_ms : row->total_ms;
}

double view_write(const struct row *row)
{
    return row->write_ms;
}

double view_read(const struct row *row)
{
    return row->read_ms;
}

double view_spread(const struct row *row)
{
    return row->spread;
}

double view_plan(const struct row *row)
{
    return row->plan_ms;
}

double view_replan(const struct row *row)
{
    return row->replan_ms;
}

double view_first(const struct row *row)
{
    return row->first_ms;
}

double view_bytes(const struct row *row)
{
    return row->bytes;
}

double view_bytes_moved(const struct row *row)
{
    return row->bytes_moved;
}

double view_error(const struct row *row)
{
    return row->error;
}

double view_bound(const struct row *row)
{
    return row->error_bound;
}

double view_error_share(const struct row *row)
{
    return row->error / row->error_bound;
}

// --- technologies -----------------------------------------------------------------------

bool view_is_host(const struct technology *technology)
{
    return bench_is_host(technology->selector);
}

// --- curves -----------------------------------------------------------------------------

// Before `count`, where a row belongs by its size.
static int find_place(const struct curve *curve, const struct row *row, bool by_size)
{
    int place = curve->count;
    while (by_size && place > 0 && row_points(curve->row[place - 1]) > row_points(row))
        place--;
    return place;
}

static void insert(struct curve *curve, const struct row *row, double value, bool by_size)
{
    const int place = find_place(curve, row, by_size);
    for (int i = curve->count; i > place; i--) {
        curve->row[i] = curve->row[i - 1];
        curve->value[i] = curve->value[i - 1];
    }
    curve->row[place] = row;
    curve->value[place] = value;
    curve->count++;
}

void view_curve(struct curve *curve, const struct results *results,
                const struct group *group, const struct technology *technology,
                row_value *value)
{
    const bool by_size = strcmp(group->shows, "size") == 0;
    *curve = (struct curve){ .technology = technology };
    for (int i = 0; i < results->rows && curve->count < VIEW_POINTS; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->group, group->id) == 0 &&
            strcmp(row->technology, technology->id) == 0 && row_counts(row) &&
            value(row) > 0)
            insert(curve, row, value(row), by_size);
    }
}

// From whichever technology has it first.
static bool is_first_of_case(const struct results *results, int index)
{
    for (int i = 0; i < index; i++) {
        if (row_is_same_case(&results->row[i], &results->row[index]))
            return false;
    }
    return true;
}

int view_cases(const struct results *results, const struct group *group,
               const struct row **list)
{
    const bool by_size = strcmp(group->shows, "size") == 0;
    int count = 0;
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->group, group->id) != 0 || !is_first_of_case(results, i))
            continue;
        int place = count++;
        for (; by_size && place > 0 && row_points(list[place - 1]) > row_points(row);
             place--)
            list[place] = list[place - 1];
        list[place] = row;
    }
    return count;
}

// Whether a technology has a row of that size before this one.
static bool has_size_before(const struct results *results, int index)
{
    const struct row *row = &results->row[index];
    for (int i = 0; i < index; i++) {
        const struct row *other = &results->row[i];
        if (strcmp(other->group, row->group) == 0 &&
            strcmp(other->technology, row->technology) == 0 &&
            row_points(other) == row_points(row))
            return true;
    }
    return false;
}

bool view_is_by_size(const struct results *results, const struct group *group)
{
    if (strcmp(group->shows, "size") != 0)
        return false;
    for (int i = 0; i < results->rows; i++) {
        if (strcmp(results->row[i].group, group->id) == 0 && has_size_before(results, i))
            return false;
    }
    return true;
}

bool view_has(const struct results *results, const struct group *group, row_value *value)
{
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->group, group->id) == 0 && row_counts(row) && value(row) > 0)
            return true;
    }
    return false;
}

bool view_is_single(const struct results *results, const struct group *group)
{
    for (int i = 0; i < results->rows; i++) {
        if (strcmp(results->row[i].group, group->id) == 0 && results->row[i].batch != 1)
            return false;
    }
    return true;
}

const struct row *view_fastest(const struct results *results, const struct row *like,
                               row_value *value,
                               bool (*wanted)(const struct technology *technology,
                                              const char *selector),
                               const char *selector)
{
    const struct row *best = NULL;
    for (int i = 0; i < results->technologies; i++) {
        const struct technology *technology = &results->technology[i];
        if (wanted && !wanted(technology, selector))
            continue;
        const struct row *row = results_find(results, technology->id, like);
        if (row && row_counts(row) && value(row) > 0 &&
            (!best || value(row) < value(best)))
            best = row;
    }
    return best;
}

// Of the time with transfers where that is looked at, and there are any.
static double spread_of(const struct row *row, row_value *value)
{
    const double spread =
        value == view_whole && row->total_spread >= 0 ? row->total_spread : row->spread;
    return spread >= 0 ? spread : 0;
}

bool view_differ(const struct row *a, const struct row *b, row_value *value)
{
    const double noise = (spread_of(a, value) + spread_of(b, value)) / 2;
    return fabs(log(value(a) / value(b))) > log1p(noise);
}

bool view_is_cut(const struct row *row)
{
    return strcmp(row->used, SERVE_CUT) == 0;
}

// --- words ------------------------------------------------------------------------------

static void print_count(double n, char *text, size_t capacity)
{
    static const char units[] = " kMG";
    int unit = 0;
    while (n >= 1024 && fmod(n, 1024) == 0 && units[unit + 1]) {
        n /= 1024;
        unit++;
    }
    snprintf(text, capacity, unit ? "%.0f%c" : "%.0f", n, units[unit]);
}

void view_print_length(const struct row *row, char *text, size_t capacity)
{
    static const char *const powers[] = { "", "", "\xc2\xb2", "\xc2\xb3" };
    kallima_desc desc = { 0 };
    bool is_cube = problem_parse_lengths(row->lengths, &desc) && desc.rank <= 3;
    for (int i = 1; is_cube && i < desc.rank; i++)
        is_cube = desc.n[i] == desc.n[0];
    if (!is_cube) {
        snprintf(text, capacity, "%s", row->lengths);
        return;
    }
    if (desc.rank == 1)
        print_count((double)desc.n[0], text, capacity);
    else
        snprintf(text, capacity, "%lld%s", (long long)desc.n[0], powers[desc.rank]);
}

void view_print_case(const struct row *row, char *text, size_t capacity)
{
    int used =
        snprintf(text, capacity, "%s %s %s", row->kind, row->precision, row->lengths);
    if (row->batch > 1 && used < (int)capacity)
        used +=
            snprintf(text + used, capacity - (size_t)used, ", batch %.0f", row->batch);
    if (strcmp(row->direction, "inverse") == 0 && strcmp(row->kind, "c2c") == 0 &&
        used < (int)capacity)
        used += snprintf(text + used, capacity - (size_t)used, ", inverse");
    if (strcmp(row->placement, "in-place") == 0 && used < (int)capacity)
        used += snprintf(text + used, capacity - (size_t)used, ", in place");
    if (row->layout[0] && used < (int)capacity)
        used += snprintf(text + used, capacity - (size_t)used, ", %s", row->layout);
    if (row->variant[0] && used < (int)capacity)
        snprintf(text + used, capacity - (size_t)used, ", %s", row->variant);
}
