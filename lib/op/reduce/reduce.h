/* SPDX-License-Identifier: Apache-2.0
   Sums of a map's results by the fixed tree (lib/sum/tree.h) in the compute format:
   down the rows for each channel, or along each row. The terms are never stored. */
#ifndef HU_OP_REDUCE_H
#define HU_OP_REDUCE_H

#include "lib/op/element/map.h"
#include "lib/sum/tree.h"

/* Numbers in the compute format, one a channel or row, with their distances to the
   exact values where a bound is asked for. The tensor is fp64 so that any fits. */
typedef struct hu_stat { hu_tensor t; double *e; } hu_stat;

hu_stat hu_stat_new(size_t n, int with_errors);
void hu_stat_free(hu_stat *s);
/* Adds it to a map's operands. */
void hu_map_add_stat(hu_map *m, const hu_stat *s, hu_how how);

/* The same as certified values, each within its error of t + lo. Low points into the struct that
   it was made in: it stays where it is while a map uses it. */
typedef struct hu_stat_dd { hu_tensor t; double *lo, *err; hu_low low; } hu_stat_dd;

void hu_stat_dd_init(hu_stat_dd *s, size_t n);
void hu_stat_dd_release(hu_stat_dd *s);
hu_dd hu_stat_dd_get(const hu_stat_dd *s, size_t i);
void hu_stat_dd_put(hu_stat_dd *s, size_t i, hu_dd v);
void hu_map_add_dd(hu_map *m, const hu_stat_dd *s, hu_how how);

/* SUM[k] gets result k of the map, summed over rows for every channel, or along each row; every result of a
   map. IN and SINK: the call's operands and their low parts. The same bits for any number of threads. */
void hu_sum_columns_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout);
void hu_sum_rows_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout);
void hu_map_stat_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *out, int nout);
/* Enclosures of listed elements of a statistic that is an output, their bounds from RUN (NULL where SINK wants none).
 */
hu_status hu_stat_enclose(const hu_call *c, hu_tensor *const *in, int out, hu_format_id format, const hu_stat_dd *s,
	const hu_stat *run, const size_t *element, size_t n, hu_sink *sink);

/* SUM[k] gets result k of the map, summed over rows (n / channels of them), for every
   channel; along rows: one sum a row. Errors are filled in where the stat has them. */
void hu_sum_columns(const hu_map *m, hu_stat *sum, int nout);
void hu_sum_rows(const hu_map *m, hu_stat *sum, int nout);
/* Every result of a map, unrounded. */
void hu_map_stat(const hu_map *m, hu_stat *out, int nout);
/* Output OUT's elements of a stat, rounded and stored; their bounds. */
void hu_stat_store(const hu_call *c, const hu_env *env, const hu_stat *s, hu_tensor *out);
void hu_stat_bound(
	const hu_call *c, hu_format_id format, const hu_stat *s, const size_t *element, size_t n, double *bound);

/* Sums of N terms by the fixed tree, each term with MORE roundings beside the tree's, in the compute format, then the
   rounding to output OUT; ABSOLUTE: what these add where numbers are subnormal. */
hu_roundings hu_reduce_roundings(
	const hu_call *c, hu_tensor *const *in, int out, size_t n, size_t more, double absolute);

/* Weight updates, one addition an element: result 0 of the map is the new weight, result 1 what it differs by
   before the last rounding. Swamped: the stored weight is the old one (operand 0 of the map). */
hu_status hu_update_swamping(const hu_map *m, const size_t *element, size_t n, const hu_env *env, hu_swamp *count);
/* The same of all elements, where the new weights are there: W and NEXT, with result 1 of the map. */
void hu_update_tally_all(const hu_map *m, const hu_tensor *w, const hu_tensor *next, hu_update_tally *count);
void hu_tree_swamping(hu_format f, double *x, size_t n, hu_swamp *count);
void hu_sum_swamping(const hu_map *m, hu_how how, int nout, int out, const size_t *group, size_t n, hu_swamp *count);

/* Bits in which sums of products of up to three of the values are exact; of values with low parts, enough bits. */
static inline mpfr_prec_t
hu_sum_bits(const hu_tensor *a)
{
	return a->lows ? HU_EXACT_BITS : hu_is_wide(a->format) ? 8192 : 1280;
}
#endif
