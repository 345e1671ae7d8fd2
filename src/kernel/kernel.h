// SPDX-License-Identifier: MIT
// Kernels: how a group of lanes works a pass, as plain data that every dialect prints.
//
//   kernel = a tile of lines a group, rounds on it, a barrier between rounds
//   round  = units, each in the registers of one lane: read, act, write
//   unit   = the elements that a codelet takes; its number is a mixed-radix number whose
//            digits say where its elements are, before and after each action
//
// The first round reads memory, the last one writes it, all others meet in the tile, in the
// memory of the group. All indices are linear in the digits.
#ifndef KAL_KERNEL_KERNEL_H_
#define KAL_KERNEL_KERNEL_H_

#include "base/arena.h"
#include "base/caps.h"
#include "kernel/choice.h"
#include "pass/pass.h"

enum {
    KAL_MAX_DIGITS = 8,
    KAL_MAX_ACTIONS = 4,
    KAL_MAX_ROUNDS = KAL_MAX_PASS_STEPS + 4,
    KAL_MAX_TABLES = 24,
    KAL_TILE_LOOPS = 2, // loops whose lines share a tile
};

enum kal_digit_role {
    KAL_DIGIT_DONE,  // elements' digits that are transformed, least significant
    KAL_DIGIT_TO_DO, // those that are not
    KAL_DIGIT_BLOCK, // outer blocks of a step
    KAL_DIGIT_ELEMENT,
    KAL_DIGIT_LINE,                           // lines of the tile, of its first loop, and
    KAL_DIGIT_LINE_SLOW = KAL_DIGIT_LINE + 1, // of its second one
};

/** A digit of a unit's number. */
struct kal_digit {
    enum kal_digit_role role;
    int64_t radix;
};

/**
 * What is done to the registers of a unit. Register j holds element sum(digit * before) +
 * j * register_before, later the same with `after`. A DFT multiplies register k by
 * exp(-2 pi i k * sum(digit * exponent) / (radix m)).
 */
struct kal_action {
    const struct kal_step *step; // NULL: none, elements change hands
    int64_t before[KAL_MAX_DIGITS], after[KAL_MAX_DIGITS], exponent[KAL_MAX_DIGITS];
    int64_t register_before, register_after;
    int table; // of the kernel; -1: none
};

/**
 * Where the tile keeps element e of line l: (e + e / block * pad) * element + l * line. If it holds
 * a half of them at once, e counts those of the lower half only: the first `held` of each `whole`.
 */
struct kal_layout {
    int64_t block, pad, element, line;
    int64_t whole, held; // 0: all
};

/** Where that is for line 0, in units of layout->element. */
static inline int64_t kal_layout_index(const struct kal_layout *layout, int64_t e)
{
    if (layout->whole)
        e = e / layout->whole * layout->held + e % layout->whole;
    return e + e / layout->block * layout->pad;
}

struct kal_round {
    bool from_memory, to_memory;
    bool streams;    // each unit is read, worked and written before the next one
    bool is_flat;    // single elements, numbered as they lie in memory
    int place;       // table of their places in the tile, if they are permuted; -1: none
    int registers;   // of a unit
    int64_t units;   // of a group
    int lane_units;  // of a lane, at most
    int digit_count; // of a unit's number, fastest first
    struct kal_digit digit[KAL_MAX_DIGITS];
    // Register 1 holds element mirror - that of register 0, in row `rows` - that of
    // register 0 if there are several, in planes of plane_rows: a BLOCK digit says which.
    // 0: it does not.
    int64_t mirror, rows, plane_rows;
    // Distance of the elements of a codelet, if a lane works two of them, whose elements mirror
    // each other: those of unit u from element u and from element pair - u, or pair / 2 if u is
    // 0, which mirror themselves. 0: it does not.
    int64_t pair;
    int action_count;
    struct kal_action action[KAL_MAX_ACTIONS];
    struct kal_layout layout; // of the tile that the round writes
};

enum kal_table_kind {
    KAL_TABLE_STEP,    // exp(-2 pi i p k / n): p = 0 .. n/radix-1 in rows of powers k
    KAL_TABLE_FINE,    // exp(-2 pi i j / n), j < 2^shift
    KAL_TABLE_POWERS,  // exp(-2 pi i size t k / n): t in rows of powers k
    KAL_TABLE_COARSE,  // exp(-2 pi i j 2^shift / n)
    KAL_TABLE_CHIRP,   // exp(-pi i j^2 / n), j < n
    KAL_TABLE_RADER,   // spectrum of the roots of a prime n, divided by n - 1
    KAL_TABLE_PRODUCT, // spectrum of the chirp of n, of `size` points, divided by that
    KAL_TABLE_MIRROR,  // exp(-2 pi i k / n), k <= n/4
    KAL_TABLE_INDEX,   // numbers, not roots: the index map of a side
    KAL_TABLE_PLACE,   // such a map of all lines of a tile: to places in it
};

/**
 * Entry i of a row of powers is power 1, 2, 3, 4, 8, 12, ...: any other is a product of two of
 * them, so that it is rounded only once more.
 */
static inline int kal_table_power(int i)
{
    return i < 3 ? i + 1 : 4 * (i - 2);
}

/** How many entries the powers below `radix` need. */
static inline int kal_table_powers(int radix)
{
    return radix <= 4 ? radix - 1 : 3 + (radix - 1) / 4;
}

/** Whether a table holds indices. */
static inline bool kal_table_is_index(enum kal_table_kind kind)
{
    return kind == KAL_TABLE_INDEX || kind == KAL_TABLE_PLACE;
}

/** A table that a kernel reads: `count` complex numbers, or indices of 32 bits. */
struct kal_table {
    enum kal_table_kind kind;
    int64_t n, size;
    int radix, powers, shift;
    // KAL_TABLE_PRODUCT: entry row * size / rows + e is number row + rows * e. Rows behind the
    // last one are zero; lines of a tile that are not there read them.
    int64_t rows;
    const int64_t *index;     // KAL_TABLE_INDEX, KAL_TABLE_PLACE
    bool is_inverse;          // KAL_TABLE_INDEX: the inverse permutation
    struct kal_layout layout; // KAL_TABLE_PLACE
    int64_t lines, extra;     // KAL_TABLE_PLACE; as those of the kernel
    int64_t count;
    int64_t at; // first entry in the program's tables
};

/** A loop over groups; of the first ones, `width` steps share a tile. */
struct kal_group_loop {
    int number; // of the pass; -1: blocks of elements
    int64_t count, width, blocks;
    int64_t in, out; // strides in reals
    int64_t in_map, out_map;
};

/** How a side's elements are reached. */
struct kal_access {
    bool is_vector;   // both parts of a number in one access
    bool is_permuted; // through the index table, in the order of memory
    bool is_part;     // the line is a part of what the side's maps are of
    int64_t elements; // of all that they are of
    bool has_gaps;    // index entries may be KAL_INDEX_NONE or conjugates
    int index;        // tables; -1: none
    int chirp, fine, coarse;
    int powers; // of the step from register to register, for each index of the loop
};

struct kal_kernel {
    const struct kal_pass *pass;
    struct kal_choice choice;
    int number; // of the pass in its launch, from 1; 0: it is alone
    bool is_f64;
    int64_t n;    // elements of a line in the tile
    int lanes;    // of a group
    int resident; // groups that a processor shall hold at once, so that one loads while
                  // others compute: what limits the registers of a lane
    int64_t groups;
    bool is_fused; // its lines are handed out by tickets; `groups` are those of a line
    int64_t chunk; // lines that one ticketed line stands for; 0: it is not fused
    int cluster;   // groups that work a line together, all of them; 1: no cluster
    // Element e of line l goes to the pass behind as element l of line e: in the tile of group
    // e / cluster_lines, there line e % cluster_lines, laid out as that pass says.
    bool to_cluster, from_cluster;
    int64_t cluster_lines;
    struct kal_layout cluster_layout;
    int line_loop_count; // loops of the lines then, fastest first
    struct kal_group_loop line_loop[KAL_MAX_LOOPS];
    int tile_loops; // the first of `loop`
    int loop_count; // fastest first
    struct kal_group_loop loop[KAL_MAX_LOOPS + 1];
    int64_t lines; // of a tile
    int64_t span;  // elements of a line that a group works; n, or fewer without a tile
    struct kal_access in, out;
    int round_count;
    struct kal_round round[KAL_MAX_ROUNDS];
    int64_t tile_elements; // numbers of group memory, of a split tile parts; with `extra`
    // Where element n-1 of each line of Rader's is; -1: nowhere. A split tile has its second
    // parts `lines` behind the first ones.
    int64_t extra;
    bool lines_are_fast; // in the tile
    bool extra_span;     // there is no tile: `span` elements of a line are a group's
    bool is_split;       // parts are exchanged one after the other, in half the memory
    bool
        is_halved; // of these the lower elements of lines, then the upper ones, in a quarter
    int table_count;
    struct kal_table table[KAL_MAX_TABLES];
};

/**
 * Groups that a processor shall hold at once, so that some load while others compute: as
 * many as its memory and registers allow, with registers enough that none spills.
 */
int kal_resident_groups(const struct kal_caps *caps, int lanes, int64_t group_bytes,
                        int lane_registers);

enum { KAL_MAX_FUSED = 3 }; // passes of one kernel

/**
 * What is launched at once: a kernel, or those of all passes of a phase. Then groups take
 * tickets: pass after pass of line after line, a later pass some lines behind the one
 * before it. Who holds a ticket waits for earlier ones only. Scratch is a ring of slots. Or,
 * where a line fits the memory of a cluster of groups, these work its passes together.
 */
struct kal_kernel_set {
    int count;
    struct kal_kernel *kernel[KAL_MAX_FUSED];
    int lanes;
    int resident;  // groups of a processor; what limits the registers of a lane
    int registers; // that a lane needs, estimated
    int64_t groups;
    int64_t group_bytes;
    int64_t lines, lag, slots; // fused: lines in all, lines between passes, of the ring
    int64_t slot_reals;
    int cluster; // groups that work a line, with scratch in their memory; 1: tickets instead
    bool
        reads_late; // roots where they are needed, rather than ahead, into more registers
};

/** What a set shall have at most, if its own choice proves bad; 0: its own choice. */
struct kal_kernel_wish {
    int lanes, resident;
    bool reads_late;
};

/**
 * Passes of each launch of a phase: all of them if they meet in the scratch of a chunk, else
 * one.
 */
int kal_phase_launch_passes(const struct kal_program *program,
                            const struct kal_phase *phase);

/**
 * Design what is launched for passes `first` to `first + count - 1` of a phase.
 *
 * Error: as kal_kernel_design()
 */
kallima_status kal_kernel_set_design(struct kal_kernel_set *out, struct kal_arena *arena,
                                     const struct kal_program *program,
                                     const struct kal_phase *phase, int first, int count,
                                     const struct kal_caps *caps, bool is_f64,
                                     const struct kal_kernel_wish *wish);

/** What a kernel shares with the others of its launch. */
struct kal_kernel_frame {
    int lanes;        // of a group; 0: as suits the kernel
    int lines;        // of a tile, where its recipe names none; 0: as suits the kernel
    int64_t chunk;    // of the phase if its passes are launched together, else 0
    int cluster;      // groups of a cluster; 0 or 1: none
    bool is_split;    // all exchange the parts of numbers in turn, where they can
    bool keeps_parts; // and none halves of these, unless it must
};

/**
 * Design the kernel of a pass for a device.
 *
 * Owner: *out lives in the arena, and so does `pass`.
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  a line does not fit the memory of a group, or there are too many
 */
kallima_status kal_kernel_design(struct kal_kernel **out, struct kal_arena *arena,
                                 const struct kal_pass *pass, const struct kal_caps *caps,
                                 bool is_f64, const struct kal_kernel_frame *frame);

/** Lay out how `from` hands its lines over to `to`, in the memory of their cluster. */
void kal_kernel_hand_over(struct kal_kernel *from, struct kal_kernel *to);

/** Of the registers of a codelet how many the lower half of its elements has. */
static inline int kal_lower_registers(int registers)
{
    return (registers + 1) / 2;
}

/** Bytes of group memory. */
int64_t kal_kernel_group_bytes(const struct kal_kernel *kernel);

/**
 * Return the turns in which an element is exchanged between all rounds: two for each exchange,
 * one to write and one to read, and more by as much as lanes wait for each other at the banks of
 * the group's memory.
 */
double kal_kernel_exchange_turns(const struct kal_kernel *kernel);

/**
 * Return the sectors of 32 bytes that one access of 32 lanes touches in memory, as a multiple of
 * the fewest that hold so much: above 1 where neighbouring lanes have no neighbours in memory.
 */
double kal_kernel_sectors(const struct kal_kernel *kernel, bool is_in);

/** Write a table's roots, `table->count` pairs of reals, rounded once. Error: E_MEMORY */
kallima_status kal_table_fill(const struct kal_table *table, const struct kal_host *host,
                              bool is_f64, void *out);

/** Write an index table. */
void kal_table_fill_index(const struct kal_table *table, int32_t *out);

#endif
