// SPDX-License-Identifier: MIT
// Other FFT libraries to measure against. A peer is one file here and one row in peer.c;
// its library is loaded at run time, so that the program neither needs nor contains it.
#ifndef KALLIMA_BENCH_PEER_H_
#define KALLIMA_BENCH_PEER_H_

#include <stdbool.h>
#include <stddef.h>

#include <kallima/kallima.h>

/** How a peer is to be used. */
struct peer_options {
    const char *directory; // of the library's installation; NULL: where the loader looks
    const char *effort;    // how long it may plan, in the peer's words; NULL: its default
    int threads;           // threads a transform may use
};

/** What is known of a peer once it has planned; strings live as long as the session. */
struct peer_info {
    const char *version; // what the library says of itself
    const char *flags;   // how it was told to plan
};

struct peer_session;
struct peer_plan;

struct peer {
    const char *name;
    const char *summary;

    // Load the library; on failure return NULL and write one sentence to `why`.
    struct peer_session *(*open)(const struct peer_options *options, char *why,
                                 size_t capacity);
    void (*close)(struct peer_session *session);

    // What the library is that computes in `precision`.
    struct peer_info (*get_info)(const struct peer_session *session, int precision);

    // Plan a packed problem for these arrays, whose content is lost; on failure return NULL
    // and write one sentence to `why`.
    struct peer_plan *(*plan)(struct peer_session *session, const kallima_desc *desc,
                              void *in, void *out, char *why, size_t capacity);
    void (*execute)(const struct peer_plan *plan);
    void (*plan_destroy)(struct peer_plan *plan);
};

/** Return the peer called `name`, or NULL. */
const struct peer *peer_find(const char *name);

/** All peers, ended by NULL. */
extern const struct peer *const peers[];

#endif
