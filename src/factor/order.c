// SPDX-License-Identifier: MIT
#include "factor/order.h"

#include "factor/lanes.h"
#include "factor/radix.h"

static void swap_radices(struct kal_recipe *node, int i, int j)
{
    const int radix = node->radix[i];
    node->radix[i] = node->radix[j];
    node->radix[j] = radix;
}

static bool is_larger(int a, int b)
{
    return a > b;
}

static bool is_smaller(int a, int b)
{
    return a < b;
}

static bool is_even_or_smaller(int a, int b)
{
    return a % 2 != b % 2 ? a % 2 == 0 : a < b;
}

static bool is_even_or_larger(int a, int b)
{
    return a % 2 != b % 2 ? a % 2 == 0 : a > b;
}

// Sort radices `first` to `end - 1`.
static void sort_radices(struct kal_recipe *node, int first, int end,
                         bool (*stands_before)(int a, int b))
{
    for (int i = first; i < end; i++) {
        for (int j = i + 1; j < end; j++) {
            if (stands_before(node->radix[j], node->radix[i]))
                swap_radices(node, i, j);
        }
    }
}

void kal_order_ascending(struct kal_recipe *node)
{
    sort_radices(node, 0, node->radix_count, is_even_or_smaller);
}

void kal_order_rising(struct kal_recipe *node)
{
    sort_radices(node, 0, node->radix_count, is_smaller);
}

void kal_order_spilling_last(struct kal_recipe *node)
{
    enum { SPILLING = 25 };
    const int first = node->radix[0], next = node->radix[1];
    if (node->radix_count < 2 || first % 2 == 0 || first < SPILLING ||
        (next & (next - 1)) == 0)
        return;
    for (int i = 0; i + 1 < node->radix_count; i++)
        swap_radices(node, i, i + 1);
}

// The largest radix, if it is odd and others are not, comes last, behind the even ones:
// its values meet no others that wait. Else the largest odd one comes first, whose
// strides meet all banks of the tile's memory. Measured on an NVIDIA H200 in November
// 2026, by timing lengths with their radices in several orders.
void kal_order_odd_aside(struct kal_recipe *node)
{
    enum { LARGE = 16, SMALLEST_FIRST = 9 };
    bool has_even = false;
    int odd = 0;

    if (node->radix_count == 0 || node->radix[0] <= LARGE)
        return;
    sort_radices(node, 0, node->radix_count, is_larger);
    for (int i = node->radix_count - 1; i >= 0; i--) {
        has_even = has_even || node->radix[i] % 2 == 0;
        odd = node->radix[i] % 2 ? i : odd;
    }
    if (has_even && node->radix[0] % 2)
        kal_order_ascending(node);
    else if (odd > 0 && node->radix[odd] >= SMALLEST_FIRST) {
        swap_radices(node, 0, odd);
        sort_radices(node, 1, node->radix_count, is_larger);
    }
}

// Numbers of a lane in each step of a line.
static void count_shares(const struct kal_recipe *node, int64_t n, bool is_f64,
                         int share[KAL_MAX_STEPS])
{
    enum { POINTS_F32 = 16, POINTS_F64 = 8 }; // that a lane has
    int largest = 1;
    for (int i = 0; i < node->radix_count; i++)
        largest = (int)kal_max(largest, node->radix[i]);
    const int64_t least =
        kal_lanes_of_largest(n, largest, is_f64 ? POINTS_F64 : POINTS_F32);
    const int64_t lanes = kal_lanes_at_work(n, node->radix, node->radix_count, least);
    for (int i = 0; i < node->radix_count; i++)
        share[i] =
            (int)(kal_round_up(n / node->radix[i], lanes) / lanes) * node->radix[i];
}

// Of the last step a lane holds one codelet at a time, of those before it all: so that radix comes
// last of which these have most numbers, behind the even ones and then the odd ones. Measured on an
// NVIDIA H200 in November 2026: of 36 lengths with a radix above 16, timed with their radices in up
// to six orders, this one is 3 percent slower than the fastest, and the one before was 8.
static void order_all_by_shares(struct kal_recipe *node, int64_t n, bool is_f64)
{
    const int end = node->radix_count - 1;
    int share[KAL_MAX_STEPS], last = 0;

    count_shares(node, n, is_f64, share);
    for (int i = 1; i <= end; i++) {
        if (share[i] > share[last] ||
            (share[i] == share[last] && node->radix[i] < node->radix[last]))
            last = i;
    }
    swap_radices(node, last, end);
    sort_radices(node, 0, end, is_even_or_larger);
}

// The same among radices up to 16, whose order counts for less: the others stay as they
// are, and lanes are as many as codelets of the largest. Measured there, by timing some
// 270 lengths with their radices in several orders.
static void put_largest_share_last(struct kal_recipe *node)
{
    enum { FEW = 16, LARGE = 16 };
    int largest = 0, most = FEW + 1, last = -1;
    for (int i = 0; i < node->radix_count; i++)
        largest = (int)kal_max(largest, node->radix[i]);
    for (int i = 0; i < node->radix_count; i++) {
        const int held = (int)kal_round_up(largest, node->radix[i]);
        if (held >= most) {
            most = held;
            last = i;
        }
    }
    if (last < 0 || node->radix[last] > LARGE)
        return;
    for (int i = last; i + 1 < node->radix_count; i++)
        swap_radices(node, i, i + 1);
}

void kal_order_by_shares(struct kal_recipe *node, int64_t n, bool is_f64)
{
    enum { LARGE = 16, FEW_STEPS = 3 };
    bool has_large = false;
    for (int i = 0; i < node->radix_count; i++)
        has_large = has_large || node->radix[i] > LARGE;
    if (has_large && node->radix_count == FEW_STEPS && (n & (n - 1)) != 0)
        order_all_by_shares(node, n, is_f64);
    else
        put_largest_share_last(node);
}

// A mirrored step is done on the registers of two codelets at once, if these are not too many:
// best are eight each, or up to ten where it comes first, in f64 four.
void kal_order_mirrored(struct kal_recipe *node, int end, bool is_f64)
{
    enum { BEST_OF_FIRST = 10 };
    const int most = is_f64 ? KAL_PAIRED_F64 : KAL_PAIRED_F32;
    const int best = end == 0 && !is_f64 ? BEST_OF_FIRST : most / 2;
    int chosen = -1;
    for (int i = 0; i < node->radix_count; i++) {
        const int radix = node->radix[i], held = chosen < 0 ? 0 : node->radix[chosen];
        if (radix <= most &&
            (held == 0 || (held > best ? radix < held : radix <= best && radix > held)))
            chosen = i;
    }
    if (chosen >= 0)
        swap_radices(node, chosen, end);
}
