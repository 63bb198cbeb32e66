/* SPDX-License-Identifier: Apache-2.0
   The statistic by which errors are said to have one direction, for every place that asks: one kernel's result, the
   elements of a tensor that arrive some at a time, the outputs of a model. */
#ifndef HU_JUDGE_VERDICT_BIAS_H
#define HU_JUDGE_VERDICT_BIAS_H

#include <stddef.h>

/* Clusters of neighbouring elements: the root of their number is the most that T can be. */
enum { HU_BIAS_CLUSTERS = 128 };

/* Returns the cluster of an element of OF. */
size_t hu_bias_cluster(size_t element, size_t of);
/* Returns T = max(|sum| - reach, 0) / sqrt(squares) of clusters' sums, which add up to SUM, and their squares to
   SQUARES; 0 where all are 0. REACH is what the computation's own errors may add up to. For clusters that are
   independent and symmetric, P(T > t) <= 2 exp(-t^2 / 2), whatever the distribution (self-normalised sums). */
double hu_bias_statistic(double sum, double squares, double reach);
/* The same of N sums, which are added up in their order. Sets *all to their sum. */
double hu_bias_of_sums(const double *sum, size_t n, double reach, double *all);
#endif
