// SPDX-License-Identifier: MIT
// Plans: describe a transform, plan it once, execute it many times.
#ifndef KALLIMA_PLAN_H_
#define KALLIMA_PLAN_H_

#include <kallima/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kallima_plan kallima_plan;

enum { KALLIMA_MAX_RANK = 8 };

typedef enum kallima_kind {
    KALLIMA_C2C = 0, // complex to complex
    KALLIMA_R2C,     // real to the n/2+1 non-redundant complex coefficients; forward only
    KALLIMA_C2R,     // n/2+1 coefficients to real; inverse only
    KALLIMA_KIND_COUNT
} kallima_kind;

typedef enum kallima_precision {
    KALLIMA_F32 = 0,
    KALLIMA_F64,
    KALLIMA_PRECISION_COUNT
} kallima_precision;

typedef enum kallima_direction {
    KALLIMA_FORWARD = 0, // exp(-2*pi*i*j*k/n)
    KALLIMA_INVERSE,     // exp(+2*pi*i*j*k/n)
    KALLIMA_DIRECTION_COUNT
} kallima_direction;

typedef enum kallima_placement {
    KALLIMA_OUT_OF_PLACE = 0,
    KALLIMA_IN_PLACE,
    KALLIMA_PLACEMENT_COUNT
} kallima_placement;

typedef enum kallima_format {
    KALLIMA_INTERLEAVED = 0, // re, im, re, im, ... in one array
    KALLIMA_PLANAR,          // real parts in one array, imaginary parts in another
    KALLIMA_FORMAT_COUNT
} kallima_format;

/**
 * How one side of a transform lies in memory. All zero is interleaved and packed.
 *
 * Unit: offset and strides count elements: complex numbers on a complex side, real numbers
 *       on a real side; never bytes. A negative stride is allowed while no index falls
 *       below zero.
 */
typedef struct kallima_layout {
    int32_t format;                   // kallima_format; ignored on a real side
    int32_t reserved;                 // zero
    int64_t offset;                   // elements before the first one
    int64_t stride[KALLIMA_MAX_RANK]; // between neighbours on each axis; all 0: packed
    int64_t batch_stride;             // between transforms; 0: packed behind each other
} kallima_layout;

/**
 * What to compute. All zero but `rank` and `n` is one packed, forward, unscaled, out of
 * place C2C transform in f32.
 *
 * Shape: the array is batch x n[0] x ... x n[rank-1], the last axis fastest. The complex
 *        side of R2C and C2R has n[rank-1]/2+1 elements on the last axis. In place, the
 *        layouts of both sides must be equal for C2C; for R2C and C2R each line of the last
 *        axis shares its storage: unit strides on the last axis, and every other real
 *        stride twice the complex one (packed: real lines padded to 2*(n/2+1)).
 */
typedef struct kallima_desc {
    int32_t kind;                // kallima_kind
    int32_t precision;           // kallima_precision
    int32_t direction;           // kallima_direction; C2R is inverse whatever this says
    int32_t placement;           // kallima_placement
    int32_t rank;                // 1 .. KALLIMA_MAX_RANK
    int32_t destroy_input;       // 1: an out-of-place transform may overwrite its input
    int64_t n[KALLIMA_MAX_RANK]; // length of each axis, at least 1
    int64_t batch;               // number of transforms; 0 means 1
    double scale;                // multiplies the result; 0 means 1
    kallima_layout in;
    kallima_layout out;
} kallima_desc;

/** Whether plans follow what tuning learnt. */
typedef enum kallima_planning {
    KALLIMA_PLANNING_DEFAULT =
        0,                  // wisdom of this very problem if there is any, else estimate
    KALLIMA_PLANNING_FIXED, // estimate: only problem and device's limits count
    KALLIMA_PLANNING_WISDOM_ONLY, // wisdom of this very problem, else E_WISDOM
    KALLIMA_PLANNING_COUNT
} kallima_planning;

/** How hard a plan was looked for. Of two in wisdom that of more effort is followed. */
typedef enum kallima_effort {
    KALLIMA_EFFORT_ESTIMATE = 0, // by the cost model: nothing is timed, nothing learnt
    KALLIMA_EFFORT_MEASURE,      // the likeliest candidates are timed
    KALLIMA_EFFORT_PATIENT,      // many candidates are timed
    KALLIMA_EFFORT_EXHAUSTIVE,   // all are
    KALLIMA_EFFORT_COUNT
} kallima_effort;

/** How to plan. All zero is the default. */
typedef struct kallima_plan_options {
    const char *recipe; // the text of a recipe to follow; NULL: the planner chooses
    int32_t without_workspace; // 1: every execution brings its own, so the plan has none
    int32_t planning;          // kallima_planning; a recipe that is given goes first
    int32_t
        effort; // kallima_effort: what wisdom has less of is tuned now (tune.h), and kept;
                // for KALLIMA_PLANNING_DEFAULT only
    int32_t reserved; // zero
} kallima_plan_options;

/**
 * Build a plan for `desc` on `device`.
 *
 * Unnormalised unless `scale` says otherwise: forward, then inverse, multiplies by the
 * product of the lengths.
 *
 * A recipe from wisdom that cannot be read, or that the device refuses, is left alone: one
 * sentence about it goes to the log, and the plan is the estimate.
 *
 * Unit:   takes the time of making twiddle tables, milliseconds below a million points, and
 *         of compiling the kernels that are not kept from before (docs/kernel-cache.md).
 * Owner:  the caller owns *out and frees it with kallima_plan_destroy(). The plan keeps its
 *         own reference to `device`. `desc` and `options` (NULL: the default) need only
 *         live for the call.
 * Thread: any; several threads may plan on one device. A plan for several threads of a CPU may
 *         run these to see how far they are from each other; OpenMP's do not survive a fork.
 * Error:  E_ARGUMENT     a field of `desc`, `planning` or `effort` is out of range;
 *                        kallima_last_error() names the field, its value and the limit
 *         E_RECIPE       the recipe text cannot be read or does not fit the problem
 *         E_WISDOM       wisdom alone is wanted, and there is none that can be followed
 *         E_UNSUPPORTED  the device lacks the precision, or the recipe needs more of it than
 *                        it has
 *         E_ABSENT       the device's compiler is missing
 *         E_COMPILE      the device's compiler refuses a kernel
 *         E_DEVICE       the device failed
 *         E_MEMORY       memory is exhausted
 *         On error *out is NULL and nothing is kept.
 * Source: planning before executing follows Frigo & Johnson, Proc. IEEE 93 (2005) 216-231,
 *         doi:10.1109/JPROC.2004.840301.
 */
KALLIMA_API kallima_status kallima_plan_create(kallima_plan **out, kallima_device *device,
                                               const kallima_desc *desc,
                                               const kallima_plan_options *options);

/** Destroy *plan and set it to NULL. *plan may be NULL. No execution may be under way. */
KALLIMA_API void kallima_plan_destroy(kallima_plan **plan);

/**
 * Transform host arrays and return when the result is there: the short form of
 * kallima_plan_execute_host() for interleaved data and the plan's own workspace.
 *
 * Shape:  `in` and `out` point to element 0 of the descriptor's arrays (the offset is added
 *         by the plan). In place, both are the same pointer.
 * Thread: several threads may execute one plan at once, on different outputs.
 * Error:  as kallima_plan_execute_host(); E_ARGUMENT also if a complex side is planar
 */
KALLIMA_API kallima_status kallima_plan_run(const kallima_plan *plan, const void *in,
                                            void *out);

/** Host arrays of one execution. */
typedef struct kallima_host_arrays {
    const void *in[2]; // interleaved or real: in[0]; planar: real and imaginary part
    void *out[2];      // likewise; in place: the same pointers as `in`
    void *workspace;   // NULL: the plan's own
    uint64_t workspace_bytes; // size of `workspace`
} kallima_host_arrays;

/**
 * Transform host arrays and return when the result is there.
 *
 * With a workspace given, nothing is allocated on the CPU device.
 *
 * Shape:  pointers are to element 0 of the descriptor's arrays, aligned to the real type.
 *         Unless in place, input and output must not overlap. The workspace holds at least
 *         kallima_plan_get_workspace() bytes and overlaps nothing.
 * Owner:  all arrays are the caller's, borrowed for the call.
 * Thread: several threads may execute one plan at once, each with its own output and its
 *         own workspace or none.
 * Error:  E_ARGUMENT  a pointer is NULL, misaligned, or breaks the plan's placement; the
 *                     workspace is too small
 *         E_MEMORY    no workspace was given and memory is exhausted
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_plan_execute_host(const kallima_plan *plan,
                                                     const kallima_host_arrays *arrays);

/** Device buffers of one execution. Offsets are the descriptor's. */
typedef struct kallima_device_arrays {
    kallima_buffer *in[2];
    kallima_buffer *out[2];
    kallima_buffer *workspace; // NULL: the plan's own
} kallima_device_arrays;

/**
 * Enqueue one execution on device buffers. The CPU device has computed on return; wait for
 * others with kallima_device_finish() or by reading the output. A little work may start only
 * when somebody waits for it.
 *
 * Shape:  as kallima_plan_execute_host(), for buffers.
 * Owner:  the buffers must live until the work is done.
 * Thread: several threads may execute one plan at once, each with its own output and its
 *         own workspace or none.
 * Error:  E_ARGUMENT  a buffer is NULL, too small, of another device, or breaks the plan's
 *                     placement
 *         E_MEMORY    no workspace was given and memory is exhausted
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_plan_execute(const kallima_plan *plan,
                                                const kallima_device_arrays *arrays);

/**
 * Return the bytes of workspace that one execution needs; 0 if it needs none. 0 for NULL.
 *
 * Thread: any.
 */
KALLIMA_API uint64_t kallima_plan_get_workspace(const kallima_plan *plan);

/** What a plan is expected to cost: counted, not measured. */
typedef struct kallima_plan_cost {
    int32_t passes;            // sweeps over memory or cache
    int32_t reserved;          // zero
    uint64_t bytes;            // read and written by all passes
    double operations;         // real additions and multiplications
    double nominal_operations; // 5 * N * log2(N) for complex, half of it for real kinds
    uint64_t workspace_bytes;  // as kallima_plan_get_workspace()
} kallima_plan_cost;

/**
 * Count what one execution costs.
 *
 * Thread: any.
 * Error:  E_ARGUMENT  an argument is NULL
 */
KALLIMA_API kallima_status kallima_plan_get_cost(const kallima_plan *plan,
                                                 kallima_plan_cost *cost);

/**
 * Write the plan's recipe as text: one line that kallima_plan_options.recipe reads back to
 * the same plan.
 *
 * Shape:  writes at most `capacity` bytes with the final NUL, cut if need be; `text` may be
 *         NULL if `capacity` is 0. *length (may be NULL) is the whole length without NUL.
 * Thread: any.
 * Error:  E_ARGUMENT  `plan` is NULL, or `text` is NULL while `capacity` is positive
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_plan_get_recipe(const kallima_plan *plan, char *text,
                                                   size_t capacity, size_t *length);

/**
 * Write what the plan does, for people: the problem, the recipe, and a line for each pass.
 *
 * Shape:  as kallima_plan_get_recipe(); several lines, each ended by a newline.
 * Thread: any.
 * Error:  E_ARGUMENT  `plan` is NULL, or `text` is NULL while `capacity` is positive
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_plan_describe(const kallima_plan *plan, char *text,
                                                 size_t capacity, size_t *length);

/**
 * Write the source of the plan's kernels, in the language of its device.
 *
 * Shape:  as kallima_plan_get_recipe(); each kernel is a text that compiles by itself.
 * Thread: any.
 * Error:  E_ARGUMENT     `plan` is NULL, or `text` is NULL while `capacity` is positive
 *         E_UNSUPPORTED  the device takes no kernels, as the CPU
 *         E_MEMORY       host memory is exhausted
 */
KALLIMA_API kallima_status kallima_plan_get_source(const kallima_plan *plan, char *text,
                                                   size_t capacity, size_t *length);

/**
 * Return the smallest length that is at least `n` and has no prime factor above 7, the
 * lengths that transform fastest; 0 if `n` is below 1 or above 2^62.
 *
 * Thread: any.
 */
KALLIMA_API int64_t kallima_fast_length(int64_t n);

#ifdef __cplusplus
}
#endif
#endif
