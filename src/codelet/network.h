// SPDX-License-Identifier: MIT
// A graph together with the values that are wanted of it.
#ifndef KAL_CODELET_NETWORK_H_
#define KAL_CODELET_NETWORK_H_

#include "codelet/dag.h"

enum { KAL_NETWORK_MAX = 2 * KAL_CODELET_MAX };

struct kal_network {
    struct kal_dag dag;
    int inputs; // inputs 0 .. inputs-1 may occur
    int outputs;
    kal_node output[KAL_NETWORK_MAX];
};

/** Prepare a network without outputs. */
void kal_network_init(struct kal_network *net, const struct kal_host *host, int inputs);

/** Free what the network holds. */
void kal_network_clear(struct kal_network *net);

/**
 * Count how often each node is used, outputs included; 0 for what no output needs.
 *
 * Owner: the caller frees *uses, net->dag.count numbers, with kal_free() on
 *        net->dag.host.
 * Error: E_MEMORY  exhausted; *uses is NULL
 */
kallima_status kal_network_count_uses(const struct kal_network *net, int32_t **uses);

/**
 * Find the other part of each complex number that is read or written: inputs 2k and 2k+1
 * below `early`, outputs 2k and 2k+1. It is 0 for all other nodes.
 *
 * Owner: the caller frees *mate, net->dag.count numbers, with kal_free() on
 *        net->dag.host.
 * Error: E_MEMORY  exhausted; *mate is NULL
 */
kallima_status kal_network_find_mates(const struct kal_network *net, int early,
                                      int32_t **mate);

/** By which nodes each node is used: user[first[id]] .. user[first[id + 1] - 1]. */
struct kal_users {
    const struct kal_host *host;
    int32_t *uses; // as kal_network_count_uses(): with the outputs
    int32_t *first, *user;
};

/**
 * List the users of each node among the nodes that are used themselves.
 *
 * Owner: the caller frees what `out` holds with kal_users_clear(); nothing on failure.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_users_build(struct kal_users *out, const struct kal_network *net);

/** Free what the lists hold. */
void kal_users_clear(struct kal_users *users);

/**
 * Take memory for one node of `g` for each of the network's, all zero.
 *
 * Owner: the caller frees it with kal_free() on g->host.
 * Error: NULL on failure, which `g` then holds
 */
kal_node *kal_network_take_map(struct kal_dag *g, const struct kal_network *net);

/**
 * Write a network of sums and products once more, into `g`, with input[i] for its inputs.
 *
 * Shape:  `input` holds net->inputs nodes of `g`, `result` net->outputs.
 * Error:  sticky, in `g`
 */
void kal_network_copy(struct kal_dag *g, const struct kal_network *net,
                      const kal_node *input, kal_node *result);

/**
 * Write into `g` the transpose of a linear network: result[i] is the sum over the
 * outputs o of seed[o] times the coefficient of input i in output o. Transposing keeps
 * the number of multiplications, and of additions if there are as many outputs as
 * inputs, and brings together constants that were apart.
 *
 * Shape:  `seed` holds net->outputs nodes of `g`, `result` net->inputs.
 * Error:  sticky, in `g`
 * Source: Bordewijk, Appl. Sci. Res. B 6 (1957) 1-74
 */
void kal_network_transpose(struct kal_dag *g, const struct kal_network *net,
                           const kal_node *seed, kal_node *result);

#endif
