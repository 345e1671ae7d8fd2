// SPDX-License-Identifier: MIT
#include "factor/radix.h"

#include "base/base.h"
#include "codelet/lengths.h"
#include "codelet/two_steps.h"
#include "factor/recipe.h"

// Loads, stores and addresses of one point in one step, in operations: measured on a Zen 4
// processor in November 2026, by timing each codelet on tiles in L1.
static const double TRAFFIC = 2.0;

bool kal_radix_exists(int64_t r)
{
    return kal_length_is_compiled(r, true);
}

bool kal_radix_is_printed(int64_t r)
{
    int count;
    const struct kal_length *length = kal_lengths_get_printed(&count);
    for (int i = 0; i < count; i++) {
        if (length[i].n == r)
            return r <= KAL_TWIDDLED_MAX || !kal_length_is_compiled(r, false);
    }
    return false;
}

bool kal_radix_divides_kernel(int64_t n, int largest)
{
    static const int primes[] = { 2,  3,  5,  7,  11, 13, 17, 19, 23,
                                  29, 31, 37, 41, 43, 47, 53, 59, 61 };
    for (size_t i = 0; i < KAL_COUNT(primes) && primes[i] <= largest; i++) {
        while (n % primes[i] == 0)
            n /= primes[i];
    }
    return n == 1;
}

bool kal_radix_divides(int64_t n)
{
    enum { LARGEST_COMPILED = 31 };
    return kal_radix_divides_kernel(n, LARGEST_COMPILED);
}

double kal_radix_cost(int r)
{
    // Beyond 20 points values spill from 32 registers.
    const double spills = r > 20 ? 1.5 : 0.0;
    return (double)kal_length_cost(r, KAL_FMA, true) / r + TRAFFIC + spills;
}

int kal_radix_operations(int r)
{
    return kal_length_cost(r, KAL_PLAIN, false);
}

// Best sequence with radices no larger than entry `last`: so each multiset is tried once.
static double search(int64_t n, int last, int *radix, int room, int *count)
{
    int lengths;
    const struct kal_length *length = kal_lengths_get(&lengths);
    double best = -1.0;
    int trial[KAL_MAX_STEPS];

    *count = -1;
    if (n == 1) {
        *count = 0;
        return 0.0;
    }
    if (room == 0)
        return best;
    for (int i = last; i >= 0; i--) {
        const int r = length[i].n;
        if (n % r != 0 || !kal_radix_exists(r))
            continue;
        int tail;
        const double rest = search(n / r, i, trial + 1, room - 1, &tail);
        const double cost = rest + kal_radix_cost(r);
        if (tail < 0 || (best >= 0.0 && cost >= best))
            continue;
        best = cost;
        trial[0] = r;
        *count = tail + 1;
        for (int j = 0; j < *count; j++)
            radix[j] = trial[j];
    }
    return best;
}

int kal_radix_sequence(int64_t n, int *radix, double *cost)
{
    int count, lengths, chosen[KAL_MAX_STEPS];
    kal_lengths_get(&lengths);
    if (n < 1 || n > KAL_MAX_LOCAL || !kal_radix_divides(n))
        return -1;
    const double best = search(n, lengths - 1, chosen, 16, &count);
    for (int i = 0; radix && i < count; i++)
        radix[i] = chosen[i];
    if (cost)
        *cost = best;
    return count;
}

// Of sequences in the order of their steps.
struct ordered_search {
    int64_t n;
    int numbers, widest; // of a register, and of the widest one
    struct kal_column_place place;
    bool are_steps_dear;
    int lanes; // of lines that are worked in their output; 0: none are
    double (*cost)(const struct ordered_search *s, int64_t done, int r); // of a step
    int most;                                                            // steps
    int radix[KAL_MAX_STEPS], best[KAL_MAX_STEPS], best_count;
    double best_cost;
};

// Registers of `points` neighbours, in narrow ones: a wide one counts for 1.5 where these
// are taken.
static double count_registers(const struct ordered_search *s, int64_t points,
                              bool fills_wide)
{
    static const double WIDE = 1.5;
    enum { TAKEN = 17, TAKEN_OF = 10 }; // as the engine chooses
    const int64_t narrow = kal_round_up(points, s->numbers) / s->numbers;
    const int64_t wide = kal_round_up(points, s->widest) / s->widest;
    const bool is_wide = fills_wide && s->widest > s->numbers && points >= s->widest &&
                         TAKEN * wide < TAKEN_OF * narrow;
    return is_wide ? WIDE * (double)wide : (double)narrow;
}

// One step of a line alone, `done` being the product of the radices before it: registers
// that are worked times instructions. The first step takes neighbours of its input
// together, whose results it turns, others take those of their output. Rows of the first
// that are no whole registers overlap where they are stored, and are waited for. Measured
// in November 2026, by timing 39 lengths from 64 to 1024 with all sequences of two steps
// and up to 24 of three: these weights choose what is within 2.1 percent of the best as a
// geometric mean on a Zen 4 processor and within 2.2 on a Xeon, with registers of 64
// bytes, and within 3.0 on the former with 32.
static double single_cost(const struct ordered_search *s, int64_t done, int r)
{
    enum { QUAD = 4, STEP = 1000, TWIDDLE = 4, RAGGED_ROW = 5 };
    const int64_t rest = s->n / done / r;
    const int64_t points = done == 1 ? rest : done, times = done == 1 ? 1 : rest;
    const bool fills = points >= s->numbers && (done > 1 || r >= s->numbers);
    const double registers =
        fills ? count_registers(s, points, done > 1 || r >= s->widest) : (double)points;
    const double instructions =
        (double)kal_length_cost(r, KAL_FMA, false) + (rest > 1 ? TWIDDLE * (r - 1) : 0);
    const bool is_ragged = done == 1 && rest > 1 && r % QUAD != 0;
    return STEP + (double)times * registers * instructions +
           (is_ragged ? RAGGED_ROW * (double)rest : 0.0);
}

static void search_ordered(struct ordered_search *s, int64_t done, int count, double cost)
{
    int lengths;
    const struct kal_length *length = kal_lengths_get(&lengths);

    if (s->best_count >= 0 && cost >= s->best_cost)
        return;
    if (done == s->n) {
        s->best_cost = cost;
        s->best_count = count;
        for (int i = 0; i < count; i++)
            s->best[i] = s->radix[i];
        return;
    }
    for (int i = 0; i < lengths && count < s->most; i++) {
        const int r = length[i].n;
        if (s->n / done % r != 0 || !kal_radix_exists(r))
            continue;
        s->radix[count] = r;
        search_ordered(s, done * r, count + 1, cost + s->cost(s, done, r));
    }
}

static int find_ordered(struct ordered_search *s, int *radix)
{
    s->best_count = -1;
    search_ordered(s, 1, 0, 0.0);
    for (int i = 0; i < s->best_count; i++)
        radix[i] = s->best[i];
    return s->best_count;
}

int kal_radix_find_both(int64_t n, int numbers, int widest, int *radix)
{
#define ROW(first, last) { first, last },
    static const struct {
        int8_t first, last;
    } rows[] = { KAL_TWO_STEPS_FROM_4(ROW) KAL_TWO_STEPS_FROM_8(ROW) };
#undef ROW
    int count = 0;

    for (size_t i = 0; numbers > 1 && i < KAL_COUNT(rows); i++) {
        if (rows[i].first * rows[i].last != n ||
            (count > 0 && widest < KAL_TWO_STEPS_NUMBERS))
            continue;
        radix[0] = rows[i].first;
        radix[1] = rows[i].last;
        count = 2;
    }
    return count;
}

int kal_radix_sequence_single(int64_t n, int numbers, int widest, int *radix)
{
    struct ordered_search s = { .n = n,
                                .numbers = numbers,
                                .widest = widest,
                                .cost = single_cost,
                                .most = KAL_MAX_STEPS };

    if (kal_radix_exists(n)) {
        radix[0] = (int)n;
        return 1;
    }
    return kal_radix_find_both(n, numbers, widest, radix) ? 2 : find_ordered(&s, radix);
}

enum { VECTOR_BYTES = 128 }; // of a tile, both parts

// How many of r vectors, each so many bytes behind the one before, are more than the ways
// of an L1 cache that they fall on?
static int64_t competing(int r, int64_t bytes_between, int ways)
{
    enum { WAY_BYTES = 4096 };
    const int64_t between = bytes_between % WAY_BYTES;
    int64_t places = 1; // sets that they fall on
    while (places * between % WAY_BYTES != 0)
        places++;
    return kal_max(0, r - ways * places);
}

static bool do_compete(int r, int64_t bytes_between, int ways)
{
    return competing(r, bytes_between, ways) > 0;
}

enum { WAYS = 12, WAYS_OF_OUTPUT = 8 };
static const double LOADS_COMPETE = 2.5, STORES_COMPETE = 10.7, OUTPUT_COMPETES = 5.0;

// One step of columns that fill the lanes, in instructions of one point, but for what
// competes. Measured on a Zen 4 processor in November 2026, by timing 60 lengths with up
// to 50 sequences of two and three steps: these weights choose what is within 4 percent
// of the best as a geometric mean, where sequences of the fewest instructions, largest
// radices first, are within 12.
static double vectors_cost(int r)
{
    static const double STEP = 4.7, SPILLS = 1.5, SMALL = 6.0;
    enum { TWIDDLE = 4, SMALLEST = 4, REGISTERS = 20 };
    const double instructions =
        (double)(kal_length_cost(r, KAL_FMA, false) + TWIDDLE * (r - 1)) / r;
    return STEP + instructions + (r > REGISTERS ? SPILLS : 0.0) +
           (r < SMALLEST ? SMALL : 0.0);
}

// A large radix costs more in the first step, of which the product of the radices before is 1.
static double first_cost(int64_t done, int r)
{
    static const double FIRST = 0.136;
    return done == 1 ? FIRST * r : 0.0;
}

// Is a line worked in its output whose first radix this is?
static bool is_folded(int r, int lanes)
{
    enum { LARGEST = 16 };
    return r % lanes == 0 && r <= LARGEST;
}

bool kal_radix_folds_in_two(int64_t n, int lanes)
{
    for (int r = lanes; is_folded(r, lanes); r += lanes) {
        if (n % r == 0 && kal_radix_exists(n / r))
            return true;
    }
    return false;
}

// Measured on a Xeon, where steps are dear, by timing 39 lines of 1280 to 32768 points
// with all such sequences: these weights choose what is within 1.4 percent of the best,
// those of the Zen 4 what is within 2.9. On a Zen 5, whose registers are as wide, 16384
// doubles take 1.2 to 1.3 times as long by two large radices. Of few steps the first one
// has a large radix, by whose outputs threads share the others: on sixteen single lines
// of 8192 to 32768 points take 0.7 to 0.9 of the time.
//
// Each vector more that competes to be stored costs a little more: 4096 columns take 0.86
// to 0.92 of the time by 8 * 32 * 16 that they take by 8 * 16 * 32, 0.95 on a Xeon. By 56
// lines of 2048 to 131072 points with up to 30 sequences each these weights choose what
// is within 2.6 percent of the best on a Zen 5, which were within 3.4 with twelve ways
// for stores, too, and none of that, and within 2.0 on a Xeon, within 2.8 with twelve
// ways for loads.
static double lanes_cost(const struct ordered_search *s, int64_t done, int r)
{
    static const double DEARER = 15.3, EACH_STORE = 0.1, UNFOLDED = 6.0;
    enum { WAYS_OF_STORES = 11, DEAR_WAYS_OF_LOADS = 16 };
    const bool are_dear = s->are_steps_dear;
    const int64_t stores =
        done == 1 ? 0
                  : competing(r, done * VECTOR_BYTES, are_dear ? WAYS : WAYS_OF_STORES);
    const bool is_unfolded = s->lanes && done == 1 && !is_folded(r, s->lanes);
    return vectors_cost(r) + (are_dear ? DEARER : first_cost(done, r)) +
           (is_unfolded ? UNFOLDED : 0.0) +
           (do_compete(r, s->n / r * VECTOR_BYTES, are_dear ? DEAR_WAYS_OF_LOADS : WAYS)
                ? LOADS_COMPETE
                : 0.0) +
           (stores > 0 ? STORES_COMPETE + EACH_STORE * (double)stores : 0.0);
}

// The first step reads memory and the last one writes it, where rows lie as the caller
// has them. Measured on a Zen 5 processor in November 2026, by timing 620 problems of 48
// to 2401 points and 8 to 2000 columns with all sequences of up to three steps: these
// weights choose what is within 6.5 percent of the best as a geometric mean, where the
// fewest instructions are within 15.
static double columns_cost(const struct ordered_search *s, int64_t done, int r)
{
    static const double FAR_STEP = 4.5, FAR_LAST = 0.1;
    const struct kal_column_place *place = &s->place;
    const bool is_first = done == 1, is_last = done * r == s->n;
    const int64_t loads = s->n / r * (is_first ? place->in_row_bytes : VECTOR_BYTES);
    const int64_t stores = done * (is_last ? place->out_row_bytes : VECTOR_BYTES);
    const double stores_cost =
        is_last    ? do_compete(r, stores, WAYS_OF_OUTPUT) * OUTPUT_COMPETES
        : done > 1 ? do_compete(r, stores, WAYS) * STORES_COMPETE
                   : 0.0;
    const double far_cost = FAR_STEP - (is_last ? FAR_LAST * r : 0.0);
    return vectors_cost(r) + first_cost(done, r) + (place->are_far ? far_cost : 0.0) +
           (do_compete(r, loads, WAYS) ? LOADS_COMPETE : 0.0) + stores_cost;
}

static int find_in_few_steps(struct ordered_search *s, int *radix)
{
    enum { FEW_STEPS = 3 };
    s->most = FEW_STEPS;
    if (find_ordered(s, radix) < 0) {
        s->most = KAL_MAX_STEPS;
        find_ordered(s, radix);
    }
    return s->best_count;
}

// What is worked in the output is worth no step more: by three of it 8192 doubles take
// 0.95 of the time that they take by 32 * 32 on one thread of a Xeon, 1.5 times as long
// on sixteen, and 32768 floats and doubles 0.98 and 0.85, 1.2 and 1.1 times as long.
int kal_radix_sequence_lanes(int64_t n, bool are_steps_dear, int lanes, int *radix)
{
    struct ordered_search s = { .n = n,
                                .are_steps_dear = are_steps_dear,
                                .cost = lanes_cost };
    const int count = find_in_few_steps(&s, radix);
    if (!lanes || count < 2)
        return count;
    s.lanes = lanes;
    s.most = count;
    return find_ordered(&s, radix);
}

int kal_radix_sequence_columns(int64_t n, const struct kal_column_place *place,
                               int *radix)
{
    struct ordered_search s = { .n = n, .place = *place, .cost = columns_cost };
    return find_in_few_steps(&s, radix);
}

struct kernel_search {
    int most;
    bool is_short, is_long;
    int radix[KAL_MAX_STEPS], count; // on the way
    int best[KAL_MAX_STEPS], best_count;
    double best_cost;
};

// What the registers of a large radix cost by keeping groups from overlapping, and what one
// exchange costs, both in instructions of one point. Measured on an NVIDIA H200 in November
// 2026, by timing lengths with several sequences.
static double register_cost(int radix)
{
    static const struct {
        int radix;
        double cost;
    } rows[] = { { 32, 5.0 }, { 27, 8.0 }, { 25, 6.0 }, { 20, 4.0 }, { 17, 3.0 } };
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        if (radix >= rows[i].radix)
            return rows[i].cost;
    }
    return 0.0;
}

static double cost_of(const struct kernel_search *s)
{
    static const double STEP = 1e4, LARGEST = 1e2, EXCHANGE = 7.5;
    // Dearer in long lines, of which a group has few, and in a second step.
    static const double IN_LONG_LINE = 1.5, AGAIN = 1.25;
    double scale = s->is_long ? IN_LONG_LINE : 1.0;
    double cost =
        s->is_short ? STEP * s->count + LARGEST * (s->count ? s->radix[0] : 0) : 0.0;
    for (int i = 0; i < s->count; i++) {
        const int r = s->radix[i];
        cost += (double)kal_length_cost(r, KAL_FMA, false) / r + EXCHANGE +
                (s->is_short ? 0.0 : scale * register_cost(r));
        scale *= register_cost(r) > 0.0 ? AGAIN : 1.0;
    }
    return cost;
}

// Try radices no larger than entry `last`, so that each multiset is tried once.
static void search_kernel(struct kernel_search *s, int64_t n, int last)
{
    enum { MOST_STEPS = 16 };
    const struct kal_length *length = kal_lengths_get_printed(&(int){ 0 });

    if (n == 1) {
        const double cost = cost_of(s);
        if (s->best_count >= 0 && cost >= s->best_cost)
            return;
        s->best_cost = cost;
        s->best_count = s->count;
        for (int i = 0; i < s->count; i++)
            s->best[i] = s->radix[i];
        return;
    }
    if (s->count == MOST_STEPS)
        return;
    for (int i = last; i >= 0; i--) {
        const int r = length[i].n;
        if (r > s->most || n % r != 0 || !kal_radix_is_printed(r))
            continue;
        s->radix[s->count++] = r;
        search_kernel(s, n / r, i);
        s->count--;
    }
}

int kal_radix_sequence_kernel(int64_t n, int most, bool is_short, int *radix)
{
    enum { LONG = 1024 };
    struct kernel_search s = {
        .most = most, .is_short = is_short, .is_long = n > LONG, .best_count = -1
    };
    int lengths;

    kal_lengths_get_printed(&lengths);
    if (n < 1 || n > KAL_MAX_LOCAL || !kal_radix_divides_kernel(n, most))
        return -1;
    search_kernel(&s, n, lengths - 1);
    for (int i = 0; i < s.best_count; i++)
        radix[i] = s.best[i];
    return s.best_count;
}
