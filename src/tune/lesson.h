// SPDX-License-Identifier: MIT
// What a search teaches: how good the predictions were, and better costs for the model.
#ifndef KAL_TUNE_LESSON_H_
#define KAL_TUNE_LESSON_H_

#include "tune/model.h"
#include "tune/search.h"

/** A model, and what it rests on. */
struct kal_knowledge {
    struct kal_model model;
    double trust[KAL_TERM_COUNT]; // in each cost, as kal_model_fit() has it
    int samples;                  // measured plans; 0: the model is a guess
};

/** What is known before anything is measured; the costs are above 0. */
struct kal_knowledge kal_knowledge_guess(const struct kal_model *guess);

/**
 * Return the rank correlation (Spearman's rho, with mean ranks for ties) of predicted and
 * measured times over the candidates that were measured; 0 where fewer than three were.
 *
 * Source: C. Spearman, Am. J. Psychol. 15 (1904) 72-101, doi:10.2307/1412159.
 */
double kal_search_correlation(const struct kal_search *search);

/**
 * Return how many times slower than the best measured candidate the one is that was predicted
 * to be the fastest of those measured; 0: none was measured.
 */
double kal_search_first_choice(const struct kal_search *search);

/**
 * Return the share of decisions about parameters in what was gained on the way from
 * candidate number `from` to the best, in logarithms: 0 to 1. The rest was better recipes.
 */
double kal_search_parameter_share(const struct kal_search *search, int from);

/**
 * Fit the model to what was measured as well. What it knew of a cost counts as much as earlier
 * samples said of just this cost: one that none of them depended on is as open as at first.
 *
 * Error: E_MEMORY  exhausted; the knowledge is as it was
 */
kallima_status kal_knowledge_extend(struct kal_knowledge *knowledge,
                                    const struct kal_host *host,
                                    const struct kal_search *search,
                                    const struct kal_caps *caps);

#endif
