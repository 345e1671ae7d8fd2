// SPDX-License-Identifier: MIT
// Shared by the files that print parts of a kernel.
#ifndef KAL_EMIT_PRINTER_H_
#define KAL_EMIT_PRINTER_H_

#include "base/text.h"
#include "emit/dialect.h"
#include "kernel/kernel.h"

struct kal_printer {
    struct kal_text *text;
    const struct kal_dialect *dialect;
    const struct kal_kernel_set *set;
    const struct kal_kernel *k; // the pass that is being printed
    int depth;                  // of indentation
    bool is_in_units;           // a loop over a lane's units is open
};

/** A sum of products, printed as it grows. */
struct kal_sum {
    char data[512];
    size_t length;
};

/** Names of a unit's digits, by their roles. */
extern const char *const kal_digit_names[];

/** Append a line, or a line that opens or closes a block. */
KAL_PRINTF(2, 3) void kal_line(struct kal_printer *p, const char *fmt, ...);
void kal_open(struct kal_printer *p, const char *head);
void kal_close(struct kal_printer *p);

/** Add `weight` times `name`; the text of a sum without terms is "0". */
void kal_sum_add(struct kal_sum *s, const char *name, int64_t weight);
const char *kal_sum_text(const struct kal_sum *s);

/** Does the digit count lines? Then: their loop, and the lines that one step of it is. */
bool kal_digit_is_line(const struct kal_digit *digit);
const struct kal_group_loop *kal_digit_loop(const struct kal_kernel *k,
                                            const struct kal_digit *digit);
int64_t kal_digit_lines(const struct kal_kernel *k, const struct kal_digit *digit);

const struct kal_action *kal_round_last_action(const struct kal_round *round);
bool kal_round_is_split(const struct kal_round *round);

/** Index of a lane's unit in its array of registers: "u", or "0" where it has one only. */
const char *kal_unit_name(const struct kal_round *round);

/** Loop over the units of a lane, `unit` and its digits; a block in it if it is open. */
void kal_open_units(struct kal_printer *p, const struct kal_round *round);
void kal_close_units(struct kal_printer *p, const struct kal_round *round);

/** Loop over the registers j of a unit. */
void kal_open_registers(struct kal_printer *p, const struct kal_round *round);

/** What must hold for the unit's line, and element, to exist; "" if it always does. */
void kal_bounds_text(const struct kal_kernel *k, const struct kal_round *round,
                     char *text, size_t capacity);
void kal_open_bounds(struct kal_printer *p, const struct kal_round *round, bool *is_open);

/**
 * Index in its line of the element in register 0, before the first or after the last action:
 * the part that the unit's digits decide, as a sum or as `element_index`.
 */
struct kal_sum kal_element_sum(const struct kal_kernel *k, const struct kal_round *round,
                               const int64_t *weights);
void kal_print_element_index(struct kal_printer *p, const struct kal_round *round,
                             const int64_t *weights);

/** Which one of its row register 0 of a mirrored unit holds. */
const char *kal_mirror_name(const struct kal_round *round);

/** The element of register j of a mirrored unit. `wraps`: there is no element `mirror`. */
void kal_print_mirrored_element(struct kal_printer *p, const struct kal_round *round,
                                bool wraps);

/**
 * Open the condition under which register j of a mirrored unit is written; false: there
 * is none.
 */
bool kal_open_mirrored(struct kal_printer *p, const struct kal_round *round);

/** Index of the unit's line on a loop of the kernel, or on that which is `number` in its pass. */
const char *kal_loop_text(const struct kal_kernel *k, int i, char *text, size_t capacity);
const char *kal_numbered_loop_text(const struct kal_kernel *k, int number, char *text,
                                   size_t capacity);

/** First entry of a kernel's table. */
int64_t kal_table_at(const struct kal_kernel *k, int table);

/** One side of the kernel's pass, and reals in one entry of its array as the kernel sees it. */
const struct kal_side *kal_side_of(const struct kal_kernel *k, bool is_in);
const struct kal_access *kal_access_of(const struct kal_kernel *k, bool is_in);
int64_t kal_access_unit(const struct kal_kernel *k, bool is_in);

/** Where the group's tile, and the unit's line, start on one side: `in_start`, `in_line`. */
void kal_print_start(struct kal_printer *p, bool is_in);
void kal_print_line_start(struct kal_printer *p, const struct kal_round *round,
                          bool is_in);

/** The name that tile element `e` has in the maps of its side. */
const char *kal_print_entry(struct kal_printer *p, bool is_in);

/** Address in memory, `at`, of the element called `element`, which an index map may have moved. */
void kal_print_address(struct kal_printer *p, bool is_in, const char *element);

/** Write `x`, tile element `e`, into the tile of a group of the cluster. */
void kal_print_cluster_store(struct kal_printer *p);

/** Apply the scale of the pass to `x`. */
void kal_print_scale(struct kal_printer *p);

/** The expression that reads, the statements that write, an element at index `at`. */
const char *kal_load_text(const struct kal_kernel *k, char *text, size_t capacity,
                          const char *at);
void kal_print_store(struct kal_printer *p, const char *at, const char *value);

/**
 * Whether of a side with a mirror the first half of each unit's registers are elements that
 * are there and the second half conjugates; then: read and write them.
 */
bool kal_mirror_is_halved(const struct kal_kernel *k, const struct kal_round *round,
                          bool is_in);
void kal_print_halved_load(struct kal_printer *p, int number);
void kal_print_halved_store(struct kal_printer *p, int number);

/** Read tile element `e` to `x`, write `x` to the place of tile element `e`. */
void kal_print_load_element(struct kal_printer *p);
void kal_print_store_element(struct kal_printer *p);

/** Multiply the registers `v` of a codelet by powers of the root that `turn` counts. */
void kal_print_step_twiddle(struct kal_printer *p, const char *v,
                            const struct kal_table *table);

/** Add what the unit's line adds to an address in the tile. */
void kal_add_line_terms(const struct kal_kernel *k, const struct kal_round *round,
                        const struct kal_layout *layout, struct kal_sum *s);

/** A round whose units are two codelets that mirror each other: all that is done to them. */
void kal_print_pair(struct kal_printer *p, int number);

/** The first round reads memory, the last one writes it. */
void kal_print_load(struct kal_printer *p, int number);
void kal_print_memory_store(struct kal_printer *p, int number);

/** All rounds of the pass, and the exchanges between them. */
void kal_print_body(struct kal_printer *p);

/** Take the next ticket, where there are tickets. */
void kal_print_next_ticket(struct kal_printer *p);

#endif
