// SPDX-License-Identifier: MIT
// The inner loops of one SIMD level in one precision, behind a table of functions.
//
// A tile holds LANES lines: element e of all lines is a vector of real parts at tile + 2 e
// LANES and a vector of imaginary parts behind it. Memory is addressed in reals; `re` and
// `im` point to element 0 of the first lane, `im` is NULL on a real side, and data is
// interleaved where they are neighbours.
#ifndef KAL_DEVICE_CPU_KERNELS_H_
#define KAL_DEVICE_CPU_KERNELS_H_

#include <stdbool.h>
#include <stdint.h>

#include "codelet/two_steps.h"

/**
 * Of what is inlined whatever its size: a compiler that judges by size puts values of a
 * caller's registers into memory, and GCC drops calls of functions that do nothing but
 * ask for memory to come, as ones without effect.
 */
#define CPU_INLINE static inline __attribute__((always_inline))

/** Have what is there on its way to the nearest cache, or to the one behind it. */
CPU_INLINE void kal_cpu_ask(const void *from, bool asks_nearest)
{
    if (asks_nearest)
        __builtin_prefetch(from, 0, 3);
    else
        __builtin_prefetch(from, 0, 2);
}

enum { CPU_MAX_RADIX = 32, CPU_MAX_REAL = 32, CPU_MAX_REAL_ROW = 64, CPU_MAX_LANES = 16 };

/** The longest codelet, of whole lines: of several, and of lines beside each other. */
enum { CPU_LONGEST = 64 };

/** Bytes of a tile element, at most: two registers. */
enum { CPU_PAIR_BYTES = 128 };

/**
 * Elements of V reals: real parts at re + e * stride, imaginary parts at im + e * stride. What
 * reads them from interleaved memory asks for those `ahead` reals behind each, unless it is 0.
 */
struct cpu_vectors {
    void *re, *im;
    int64_t stride, ahead;
};

/** Let vectors begin `bytes` farther on. */
static inline void kal_cpu_advance(struct cpu_vectors *vectors, int64_t bytes)
{
    vectors->re = (char *)vectors->re + bytes;
    vectors->im = (char *)vectors->im + bytes;
}

/** Where interleaved numbers begin, whichever part leads. */
static inline char *kal_cpu_leading(const struct cpu_vectors *vectors)
{
    return (char *)vectors->im < (char *)vectors->re ? vectors->im : vectors->re;
}

/** One side of a tile in the user's or in scratch memory. */
struct cpu_memory {
    void *re, *im;
    int64_t stride; // between elements
    int64_t ahead;  // reals to the tile to come, which is asked for; 0: none is
    const int64_t *lane_offset; // of each lane, from `re` and `im`
    int lanes;                  // that hold lines
    const int64_t *index;       // as in struct kal_side, or NULL
};

/** One Stockham step, as in struct kal_step; w: p = 1 .. m-1, each radix-1 roots. */
typedef void cpu_dft(const struct cpu_vectors *x, const struct cpu_vectors *y, int64_t m,
                     int64_t s, const void *w);

/** Codelets p = begin .. end-1, of m, of a first step. */
typedef void cpu_dft_part(const struct cpu_vectors *x, const struct cpu_vectors *y,
                          int64_t m, int64_t begin, int64_t end, const void *w);

/**
 * Steps that move data on their way, NULL where there is none: from or to interleaved
 * memory of adjacent lines, where `im` is a neighbour of `re`; `lanes` multiply output k
 * by element k of the tile w (m and s are 1). Interleaved output needs m = 1; `streamed`
 * is `out` past the caches, where y and its stride are multiples of a register. `twins`
 * are `in` of two lines, whose numbers fill half a register each: x.re is the first one
 * and x.im the second one, which lies behind it, or the reverse, which exchanges parts.
 * `part` is some of `in`. `folded` is `in` of a first step whose radix is a multiple w of
 * the lanes: output i + LANES j of codelet p is at i w m + j + w p.
 */
struct cpu_fused {
    cpu_dft *folded[CPU_MAX_RADIX + 1];
    cpu_dft_part *part[CPU_MAX_RADIX + 1];
    cpu_dft *in[CPU_MAX_RADIX + 1], *out[CPU_MAX_RADIX + 1], *in_out[CPU_MAX_RADIX + 1];
    cpu_dft *streamed[CPU_MAX_RADIX + 1];
    cpu_dft *lanes[CPU_MAX_RADIX + 1], *in_lanes[CPU_MAX_RADIX + 1];
    cpu_dft *twins[CPU_MAX_RADIX + 1], *twins_lanes[CPU_MAX_RADIX + 1];
};

/**
 * How numbers lie in memory; STREAMED is interleaved, stored past the caches,
 * STREAMED_PLANES is planar. SHIFTED is as STREAMED, but y begins anywhere, and is that
 * of all transforms, whose rows are one behind the other: m, a multiple of a line's
 * LANES, whole lines of the caches; twins are one behind the other, too.
 */
enum cpu_layout {
    CPU_PLANAR,
    CPU_INTERLEAVED,
    CPU_STREAMED,
    CPU_STREAMED_PLANES,
    CPU_SHIFTED,
    CPU_LAYOUT_COUNT
};

enum { CPU_PRODUCTS_FROM = 16 }; // radix of lines whose roots may be products

/**
 * What lines that are SHIFTED leave of their last line of the caches: of their last bytes
 * those in it are not stored yet.
 */
struct cpu_edge {
    _Alignas(64) char last[64];
    bool is_left;
};

/**
 * The last step of a line that fills the lanes by itself, radix r, NULL where there is
 * none (r is a multiple of the lanes): element k, lane b of tile g is number b + g LANES
 * of transform k, for k = 0 .. m-1 and m at least LANES. y's stride is m numbers. Each is
 * multiplied by that of `roots`, tiles like these, unless it is NULL. If `fine` is not
 * NULL, for which r is CPU_PRODUCTS_FROM at least, `roots` has of each tile but the first
 * element of every LANES, the last of which may overlap those before, and the others are
 * its products with elements 0 .. LANES-1 of `fine`, LANES of each tile. Past the caches
 * y and m numbers are multiples of a register. As many numbers as these from `ahead` on
 * are asked for on the way, unless it is NULL, for the nearest cache or the one behind
 * it. Transforms 0 .. count-1 are made, LANES at least. Those that are SHIFTED store what
 * `edge` has left of the line right before, and leave the last of theirs to it; for
 * others it may be NULL.
 */
typedef void cpu_line_end(const void *tile, const struct cpu_vectors *y, int64_t m,
                          int64_t count, const void *roots, const void *fine,
                          const void *ahead, bool asks_nearest, struct cpu_edge *edge);

/** The mirrored step behind a line of packed reals. */
struct cpu_line_mirror {
    // exp(-2 pi i k / 2n) for k = a + j LANES + b m of registers j, up to the middle one,
    // and rows b: elements b of tiles j, lanes a.
    const void *roots;
    double scale;
};

/**
 * The last step of a line of n = r m numbers, as cpu_line_end with m whole registers, and
 * the mirrored step behind it, to coefficients 0 .. n, interleaved.
 */
typedef void cpu_line_split(const void *tile, void *y, int64_t m, const void *roots,
                            const void *fine, const struct cpu_line_mirror *mirror);

/**
 * A tile is folded if its element i + LANES j is at i m/LANES + j, m being a multiple of
 * LANES. What a register of transforms takes is then where their output is, as
 * interleaved numbers: the output may be the tiles, one behind the other. `folded` is of
 * such tiles, to interleaved numbers.
 */
struct cpu_line_kernels {
    cpu_line_end *end[CPU_LAYOUT_COUNT][CPU_MAX_RADIX + 1];
    cpu_line_end *folded[CPU_MAX_RADIX + 1];
    cpu_line_split *split[CPU_MAX_RADIX + 1], *split_folded[CPU_MAX_RADIX + 1];
    // Of two lines, half a register each, r lanes; y as x of `twins`; NULL: there is none.
    cpu_line_end *twins[CPU_LAYOUT_COUNT];
};

/**
 * Steps of one lane of interleaved numbers, whose parts are exchanged on both sides or on none.
 * `whole`: m and s are 1, and numbers are one behind the other.
 */
struct cpu_pair_kernels {
    cpu_dft *step[CPU_MAX_RADIX + 1], *whole[CPU_MAX_RADIX + 1];
};

/**
 * Return whether m packed numbers are pairs of whole registers of so many, and mirrored
 * as they lie in these.
 */
static inline bool kal_cpu_mirrors_registers(int64_t m, int numbers)
{
    return m % (2 * numbers) == 0;
}

/**
 * The mirrored step of one line of 2 m reals, from m packed numbers to coefficients 0 ..
 * m or back, interleaved, real parts first, and not where they come from. m is above
 * `numbers` of the kernels; w has for each group of numbers k, of those from 0 to m/2 - 1
 * where kal_cpu_mirrors_registers(), else from 1 to m/2, the last group ending below m, a
 * register of real parts of u, each twice, and one of imaginary parts, the first of two
 * with the sign changed: u = -i/2 exp(-2 pi i k / 2m) to split, and i exp(2 pi i k / 2m)
 * to merge.
 */
typedef void cpu_mirror(const void *x, void *y, int64_t m, const void *w);

/**
 * One Stockham step of `lines` lines of interleaved numbers that are neighbours on both
 * sides, where parts are exchanged on both or on none. The lines fill a register at
 * least; where they do not fill the last one some are worked twice, and y is not x.
 */
typedef void cpu_beside(const struct cpu_vectors *x, const struct cpu_vectors *y,
                        int64_t m, int64_t s, int64_t lines, const void *w);

/** The first and the last step of a line, by their radices, as one; m and s are not looked at. */
struct cpu_both {
    int first, last;
    cpu_dft *dft;
};

/**
 * All of a plane of so many rows and columns, not scaled. Complex rows are packed, on both
 * sides, which may be one; rows of reals are a stride apart, those of their coefficients are
 * packed. Nothing else is looked at.
 */
struct cpu_plane {
    int rows, columns;
    cpu_beside *run;
};

/** Planes by what they are: complex ones, and forward and backward ones of reals. Each list
 * ends with one of no rows. */
struct cpu_plane_kernels {
    const struct cpu_plane *c2c, *r2c, *c2r;
};

/**
 * Steps of interleaved numbers, whose parts are exchanged on both sides or on none:
 * `numbers` at once, which fill a register. Those of one line, one behind the other on
 * both sides: `first` has s = 1, and m and the radix at least `numbers`; its w has for
 * each group of p, from those below `numbers` on, where the last group ends with m-1,
 * radix-1 registers of real parts, each number's twice, and of imaginary parts in turn.
 * `later` has s at least `numbers`. Those of lines beside each other: `beside`. `both`,
 * up to the first one that has none: all of a line of two steps, w being that of `first`.
 */
struct cpu_group_kernels {
    int numbers;
    struct cpu_both both[KAL_TWO_STEPS_COUNT];
    cpu_dft *first[CPU_MAX_RADIX + 1], *later[CPU_MAX_RADIX + 1];
    cpu_beside *beside[CPU_LONGEST + 1]; // the longest one in registers of up to 32 bytes
    cpu_mirror *split, *merge;
};

/**
 * Codelets of LANES lines each, `groups` times: interleaved numbers one behind the other,
 * and strides from line to line. Scaled ones alone look at `scale`. `streamed` is past
 * the caches, where lines are one behind the other in y, too, and y is a multiple of a
 * register. x.ahead is other than 0 where input is asked for ahead of its use, behind the
 * last line, too; y.ahead where output is not in the caches and does not go past them,
 * and is asked for.
 */
typedef void cpu_short(const struct cpu_vectors *x, const struct cpu_vectors *y,
                       int64_t groups, double scale, bool streamed);

/**
 * Return whether lines of so many reals, turned in registers of `lanes`, go past the
 * caches straight from these: pieces of whole lines of the caches must fit them. Others
 * go by way of a copy.
 */
static inline bool kal_cpu_goes_straight(int reals, int lanes, int real_bytes)
{
    enum { LINE_BYTES = 64, REGISTERS = 8 };
    const int line = LINE_BYTES / real_bytes;
    return reals == lanes || (reals % line == 0 && (lanes == line || line <= REGISTERS));
}

/**
 * Of real transforms of length n, NULL where there is none: reals, and coefficients 0 .. n/2 as
 * interleaved numbers; x and y begin at `re`. C2R is the inverse; imaginary parts of coefficients
 * that are real are not used. `rest` counts lines: few of the longer ones, by way of copies.
 */
struct cpu_real_kernels {
    cpu_short *r2c[CPU_MAX_REAL_ROW + 1], *c2r[CPU_MAX_REAL_ROW + 1];
    cpu_short *rest_r2c[CPU_MAX_REAL_ROW + 1], *rest_c2r[CPU_MAX_REAL_ROW + 1];
};

/**
 * How a side of lines lies that may be anywhere: reals from element to element and from
 * line to line. Codelets take reals, `is_real`, in pairs. `is_far`: memory some way behind
 * the lines that are worked is asked for.
 */
struct cpu_apart_side {
    int64_t stride, line;
    bool is_real, is_far;
};

/** Short lines that lie anywhere, and their codelet. */
struct cpu_apart_lines {
    struct cpu_apart_side x, y;
    int in, out;  // elements of a line that come to the codelet, and that go
    cpu_dft *dft; // of kernels that have none in them
    double scale;
};

/**
 * Transform `count` of these lines, or groups of LANES of them, of which the first one's
 * first parts are at xr and xi, and go to yr and yi; xi and yi of reals are not used.
 */
typedef void cpu_apart_run(const void *xr, const void *xi, void *yr, void *yi,
                           int64_t count, const struct cpu_apart_lines *lines);

/** The longest lines that have a loop of their own. */
enum { CPU_LONGEST_ALONE = 16 };

/**
 * Short lines that lie anywhere, each of up to CPU_MAX_RADIX elements. `r2c` and `c2r`
 * are codelets of real transforms for `run`, by length; complex ones are those of `dft`
 * below. One lane has loops with the codelets in them, too; NULL: none.
 */
struct cpu_apart_kernels {
    cpu_apart_run *run;
    cpu_dft *r2c[CPU_MAX_REAL + 1], *c2r[CPU_MAX_REAL + 1];
    cpu_apart_run *c2c_alone[CPU_LONGEST_ALONE + 1], *r2c_alone[CPU_LONGEST_ALONE + 1],
        *c2r_alone[CPU_LONGEST_ALONE + 1];
};

/**
 * Kernels of narrower registers, by the fused operations of a processor that has wider
 * ones: `alone` of one lane, `strided`, as of struct cpu_kernels, of 16 bytes.
 */
struct cpu_narrow_kernels {
    const struct cpu_apart_kernels *alone;
    cpu_apart_run *const *strided;
};

/**
 * One line of a mirrored step. Elements are neighbours in memory on both sides, interleaved
 * where im is re + 1, of what MERGE writes where re is im + 1, too; roots[k] are interleaved.
 * SPLIT multiplies by `scale`.
 */
struct cpu_row {
    const void *in_re, *in_im, *roots;
    void *out_re, *out_im;
    int64_t m; // element k is paired with m - k
    double scale;
};

/**
 * Work along one line: mirrored steps on pairs begin .. end-1 of 0 .. m/2; n numbers that are
 * neighbours in memory, in planes or interleaved in either order, to or from a tile of one lane,
 * where they are interleaved; such numbers times those of a table, to others or in place; and
 * numbers index[k] to others, as numbers k. A part that is NULL is zero, or dropped. `scale` takes
 * n reals.
 */
struct cpu_row_kernels {
    void (*split)(const struct cpu_row *row, int64_t begin, int64_t end);
    void (*merge)(const struct cpu_row *row, int64_t begin, int64_t end);
    void (*load)(void *tile, const void *re, const void *im, int64_t n);
    void (*store)(const void *tile, void *re, void *im, int64_t n);
    void (*product)(void *out_re, void *out_im, const void *re, const void *im,
                    const void *table, int64_t n);
    void (*collect)(void *out_re, void *out_im, const void *re, const void *im,
                    const int64_t *index, int64_t n);
    void (*scale)(void *reals, double factor, int64_t n);
};

/**
 * What the elements of a tile are multiplied by on their way to memory: one scale; or a vector of
 * roots for each, `step` elements behind the one before, times the product of one vector and one
 * root for all, unless `lanes` is NULL.
 */
struct cpu_factors {
    double scale;
    const void *roots;
    int64_t step;
    const void *lanes, *row;
};

/**
 * Elements 0 .. n-1 of a tile, times factors, to elements of y: all lanes, which are
 * neighbours.
 */
typedef void cpu_output(const void *tile, const struct cpu_factors *factors,
                        const struct cpu_vectors *y, int64_t n);

/**
 * n elements from one side to the other: what lies between those that are apart, and
 * behind them, is left as it is. Where neighbours go there is room for whole registers.
 */
typedef void cpu_copy_line(void *to, const void *from, int64_t n);

/**
 * n elements of lines that are neighbours, element by element, with nothing between them,
 * to where each is by itself, so many reals from the one before, or back.
 */
typedef void cpu_copy_dense(void *to, const void *from, int64_t pitch, int64_t n);

/**
 * n elements of up to as many lines as a register holds elements of: from where the lines
 * are neighbours, element by element, to where each is by itself, or back. Steps are in
 * reals, of the one side from element to element, of the other from line to line.
 * `is_far`: back past the caches, where `to` and its step are multiples of a register.
 */
typedef void cpu_copy_columns(void *to, int64_t to_step, const void *from,
                              int64_t from_step, int64_t n, int lines, bool is_far);

/** n elements of v, on one line, from or to a line of interleaved numbers. */
typedef void cpu_copy_numbers(const struct cpu_vectors *v, void *line, int64_t n);

enum { CPU_MOST_COPIED_REALS = 2, CPU_MOST_APART = 4 };

/**
 * To where elements are neighbours, and back, by reals of an element, and elements from
 * one to the next; NULL where there is none, as for one lane. `widen`: reals, as numbers
 * without imaginary parts; `narrow`: their real parts. `extend`: the first n numbers of the
 * spectrum of 2n-1 reals, as the conjugate of all of it. `part` and `join`: by the number
 * of lines.
 */
struct cpu_copy_kernels {
    cpu_copy_line *collect[CPU_MOST_COPIED_REALS + 1][CPU_MOST_APART + 1];
    cpu_copy_line *spread[CPU_MOST_COPIED_REALS + 1][CPU_MOST_APART + 1];
    cpu_copy_dense *part[CPU_MOST_COPIED_REALS + 1][CPU_MOST_APART + 1];
    cpu_copy_dense *join[CPU_MOST_COPIED_REALS + 1][CPU_MOST_APART + 1];
    cpu_copy_columns *collect_columns[CPU_MOST_COPIED_REALS + 1];
    cpu_copy_columns *spread_columns[CPU_MOST_COPIED_REALS + 1];
    cpu_copy_numbers *widen, *narrow, *extend;
};

/** Tiles whose lanes face each other that go to memory together. */
enum { CPU_MOST_FACING = 2 };

/**
 * Tiles whose lanes face each other: lane j holds line k, and lane LANES-1-j the one that
 * it meets. Vector i of `low` is element first + i step, and vector n-1-i of `high`,
 * which may be the same, is element last - i step, which that meets.
 */
struct cpu_facing_pairs {
    int tiles;
    const void *low[CPU_MOST_FACING], *high[CPU_MOST_FACING];
    int64_t n, pairs; // vectors of both; of these so many are worked
    int64_t first, last, step;
};

/**
 * Roots of a mirrored step: of the lanes, a tile of one element for each tile, times one
 * for each element.
 */
struct cpu_facing_roots {
    const void *lanes, *elements;
    double scale;
};

/**
 * Twiddles of elements first + i step: those of `first`, which are its vector of `lanes`
 * times its number of the tile, that being for the lower half of the lanes and its
 * conjugate for the upper half, times vector i of `roots`.
 */
struct cpu_facing_twiddles {
    const void *lanes, *tile[CPU_MOST_FACING], *roots[CPU_MOST_FACING];
    int64_t first, step;
};

/**
 * Where tiles come from: numbers of the lower half of the first one's lanes, behind which
 * those of the next tile lie, and of the upper half, before which they do. Elements are
 * `stride` reals apart.
 */
struct cpu_facing_input {
    const void *low, *high;
    int64_t stride;
    // As far behind the lower half, and before the upper one, memory is asked for; 0: none is.
    int64_t ahead;
};

/**
 * Where tiles go: numbers of the upper half of the lanes from `high` on, before which
 * those of the next tile go, and those of the lower half from the number behind `low` on.
 * As `low` is where whole registers go, of each element the last number of that half is
 * kept in `carried`, and goes with the tile to come, as what is there goes with this one.
 * Elements are `stride` reals apart, in `carried` they are neighbours, with room for a
 * register before and behind them. Stored are numbers range[0] .. range[1]-1 of each
 * register, of which one tile alone may have less than all.
 */
struct cpu_facing_output {
    void *low, *high, *carried;
    int64_t stride;
    int low_range[2], high_range[2];
    bool is_streamed;
};

/**
 * SPLIT as in struct cpu_row, to the output; MERGE the same, from the input to tiles of n
 * elements. `twiddle` multiplies n elements of tiles on their way to the output, and
 * `roots` makes vectors for it of every step-th element.
 */
struct cpu_facing_kernels {
    void (*split)(const struct cpu_facing_pairs *x, const struct cpu_facing_roots *roots,
                  const struct cpu_facing_output *y);
    void (*merge)(void *const *tile, int tiles, int64_t n,
                  const struct cpu_facing_input *x, const struct cpu_facing_roots *roots);
    void (*roots)(void *to, const void *lanes, const void *tile, int64_t step, int64_t n);
    void (*twiddle)(const void *const *tile, int tiles, int64_t n,
                    const struct cpu_facing_twiddles *w,
                    const struct cpu_facing_output *y);
};

struct cpu_kernels {
    const char *level; // "scalar", "sse2", "avx2", "avx512", "neon"
    int lanes;
    bool has_fma; // one operation multiplies and adds

    cpu_dft *dft[CPU_MAX_RADIX + 1];
    // s rows of m transforms each, without roots: elements m apart, from the first m of a
    // row on, in x and in y; NULL for one lane.
    cpu_dft *dft_rows[CPU_MAX_RADIX + 1];
    const struct cpu_fused *fused;       // NULL for one lane, where it would gain nothing
    const struct cpu_line_kernels *line; // NULL for one lane
    const struct cpu_pair_kernels *pairs;   // NULL for one lane
    const struct cpu_group_kernels *groups; // NULL where one number fills a register
    const struct cpu_plane_kernels *planes; // NULL where `groups` is
    // By radix, NULL where there is none; NULL for one lane. Then those that are scaled.
    cpu_short *const *shorts, *const *scaled_shorts;
    const struct cpu_real_kernels *reals, *scaled_reals;
    // By radix and the longest one, of as many lines as `groups` says, not scaled and
    // never past the caches; NULL for one lane, and for registers of 64 bytes.
    cpu_short *const *several;
    // By radix, of as many lines of numbers that lie anywhere, whose parts are exchanged on
    // both sides or on none, not scaled; a line may be its own output. NULL where `several` is.
    cpu_apart_run *const *strided;
    const struct cpu_row_kernels *rows;
    const struct cpu_copy_kernels *copies;
    const struct cpu_facing_kernels *facing; // NULL for one lane
    const struct cpu_apart_kernels *apart;   // NULL for registers of 64 bytes
    const struct cpu_narrow_kernels *narrow; // NULL where fused operations are missing

    /**
     * Elements first .. first+n-1 to or from tile elements 0 .. n-1. `lanes`: lanes are
     * neighbours in memory. `lanes_apart`: all are there, each as far from the next. `rows`:
     * there is no index, and n elements fill a vector or are neighbours. `any`: no condition.
     */
    void (*load_lanes)(void *tile, const struct cpu_memory *from, int64_t first,
                       int64_t n);
    void (*store_lanes)(const void *tile, const struct cpu_memory *to, int64_t first,
                        int64_t n);
    void (*load_lanes_apart)(void *tile, const struct cpu_memory *from, int64_t first,
                             int64_t n);
    void (*store_lanes_apart)(const void *tile, const struct cpu_memory *to,
                              int64_t first, int64_t n);
    void (*load_rows)(void *tile, const struct cpu_memory *from, int64_t first,
                      int64_t n);
    void (*store_rows)(const void *tile, const struct cpu_memory *to, int64_t first,
                       int64_t n);
    void (*load_any)(void *tile, const struct cpu_memory *from, int64_t first, int64_t n);
    void (*store_any)(const void *tile, const struct cpu_memory *to, int64_t first,
                      int64_t n);
    /**
     * As store_lanes, past the caches: all lanes, interleaved, no index, elements that begin on
     * lines of the caches. NULL for one lane.
     */
    void (*stream_lanes)(const void *tile, const struct cpu_memory *to, int64_t first,
                         int64_t n);

    /** Copy n reals past the caches, but for registers that `to` fills only in part. */
    void (*stream)(void *to, const void *from, int64_t n);

    /**
     * Copy `count` pieces of n reals past the caches, by reals from piece to piece; each
     * is whole lines of these.
     */
    void (*stream_pieces)(void *to, int64_t to_step, const void *from, int64_t from_step,
                          int64_t n, int64_t count);

    /**
     * The same through the caches, of n reals that fill registers; `asks_ahead`: what
     * lies behind each piece is asked for.
     */
    void (*copy_pieces)(void *to, int64_t to_step, const void *from, int64_t from_step,
                        int64_t n, int64_t count, bool asks_ahead);

    /**
     * Tile elements: to[e] = from[index[e]], where the index may say that it is absent or
     * conjugate, as in struct kal_side, and to[index[e]] = from[e], where it may not.
     */
    void (*gather)(void *to, const void *from, const int64_t *index, int64_t n);
    void (*scatter)(void *to, const void *from, const int64_t *index, int64_t n);

    /** Elements [e] *= table[e], complex; `exchange` swaps the parts of the product. */
    void (*multiply)(void *tile, const void *table, int64_t n, bool exchange);
    /**
     * RADER: multiply n elements by the spectrum, exchange their parts, add x0 to element
     * 0; write x0 + element 0 of before, exchanged, to *sum. x0 and sum are one element.
     */
    void (*rader)(void *tile, const void *x0, void *sum, const void *table, int64_t n);
    /** Elements [e] *= lanes[e] * rows[e]: vectors of roots times one root. */
    void (*twiddle)(void *tile, const void *lanes, const void *rows, int64_t n);
    /** Elements [e] *= roots[e]: a vector of roots each, as a tile. */
    void (*multiply_tile)(void *tile, const void *roots, int64_t n);
    /** Elements [e] = lanes[step e] * rows[step e], as `twiddle` has them. */
    void (*roots)(void *tile, const void *lanes, const void *rows, int64_t step,
                  int64_t n);
    /** By roots, or by a scale; by layout of y, NULL for one lane; streamed as by stream_lanes. */
    cpu_output *twiddled[CPU_LAYOUT_COUNT], *scaled[CPU_LAYOUT_COUNT];
    void (*scale)(void *tile, double factor, int64_t n);

    /**
     * Mirrored steps on pairs of elements e of `low` and `high` (whose strides may be
     * negative); w[e] are roots of unity. SPLIT: transform of packed reals to coefficients.
     * MERGE: the reverse, with parts exchanged.
     */
    void (*split)(const struct cpu_vectors *low, const struct cpu_vectors *high,
                  const struct cpu_vectors *out_low, const struct cpu_vectors *out_high,
                  const void *w, int64_t n);
    void (*merge)(const struct cpu_vectors *low, const struct cpu_vectors *high,
                  const struct cpu_vectors *out_low, const struct cpu_vectors *out_high,
                  const void *w, int64_t n);
};

/** Return the kernels of a level, "scalar", "sse2", ..., or NULL if not compiled in. */
const struct cpu_kernels *kal_cpu_kernels_find(const char *level, bool is_f64);

#endif
