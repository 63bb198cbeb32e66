/* SPDX-License-Identifier: Apache-2.0
   Sums of a map's results by the fixed tree (lib/sum/tree.h) in the compute format, or by the call's summation model
   (summed.h), down the rows for each channel or along each row. The tree never stores the terms. */
#ifndef HU_OP_REDUCE_H
#define HU_OP_REDUCE_H

#include "lib/op/element/map.h"
#include "lib/sum/tree.h"

/* Numbers in the compute format, one per channel or row, with bounds e on their distance to the exact values if a bound
   is asked for. The tensor is fp64, which holds any compute format's values. */
typedef struct hu_stat {
	hu_tensor t;
	double *e;
} hu_stat;

hu_stat hu_stat_new(size_t n, int with_errors);
void hu_stat_free(hu_stat *s);
/* Adds the statistic to a map's operands. */
void hu_map_add_stat(hu_map *m, const hu_stat *s, hu_how how);

/* The same as certified values, each within err of t + lo. low points into this struct, so it must not be moved while a
   map uses it. */
typedef struct hu_stat_dd {
	hu_tensor t;
	double *lo, *err;
	hu_low low;
} hu_stat_dd;

void hu_stat_dd_init(hu_stat_dd *s, size_t n);
void hu_stat_dd_release(hu_stat_dd *s);
hu_dd hu_stat_dd_get(const hu_stat_dd *s, size_t i);
void hu_stat_dd_put(hu_stat_dd *s, size_t i, hu_dd v);
void hu_map_add_dd(hu_map *m, const hu_stat_dd *s, hu_how how);

/* sum[k] gets the certified sum of result k of the map over rows for every channel, over the rows of each image for
   every channel, or along each row; hu_map_stat_dd computes every result without summing. in and sink are the call's
   operands and their trailing parts. The bits are the same for any number of threads. */
void hu_sum_columns_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout);
void hu_sum_images_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout);
void hu_sum_rows_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *sum, int nout);
void hu_map_stat_dd(hu_map *m, hu_tensor *const *in, const hu_sink *sink, hu_stat_dd *out, int nout);
/* Hands enclosures of listed elements of a statistic that is an output to sink. Their bounds come from run, which is
   NULL if the sink wants none. */
hu_status hu_stat_enclose(const hu_call *c, hu_tensor *const *in, int out, hu_format_id format, const hu_stat_dd *s,
	const hu_stat *run, const size_t *element, size_t n, hu_sink *sink);

/* sum[k] gets the emulated sum of result k of the map over the rows (n / channels of them) for every channel, over the
   rows of each image (image / channels of them; the map's member image counts elements) for every channel, or one sum
   along each row. Errors are filled in if the stat has room for them. */
void hu_sum_columns(const hu_map *m, hu_stat *sum, int nout);
void hu_sum_images(const hu_map *m, hu_stat *sum, int nout);
void hu_sum_rows(const hu_map *m, hu_stat *sum, int nout);
/* Computes every result of a map, unrounded. */
void hu_map_stat(const hu_map *m, hu_stat *out, int nout);
/* Rounds a statistic to output out and stores it; bounds its elements' errors. */
void hu_stat_store(const hu_call *c, const hu_env *env, const hu_stat *s, hu_tensor *out);
void hu_stat_bound(
	const hu_call *c, hu_format_id format, const hu_stat *s, const size_t *element, size_t n, double *bound);

/* Bounds the distance of the fixed tree's sum v of n bounded terms, in format f, from their exact sum; all is the sum
   of the terms' magnitudes, and e is the sum of their errors. +Inf if v is not finite. */
double hu_reduce_tree_error(hu_format f, double v, double all, double e, size_t n);

/* The roundings behind output out when it is a sum of n terms by the fixed tree: each term has more roundings besides
   the tree's, in the compute format, and the sum is rounded to the output. absolute is the error that the additional
   roundings add for subnormal numbers. */
hu_roundings hu_reduce_roundings(
	const hu_call *c, hu_tensor *const *in, int out, size_t n, size_t more, double absolute);

/* Counts the additions of a sum of x[n] by the fixed tree in format f, and of the listed groups' sums of a map's result
   out. how says what a group is: a channel over all rows (HU_CHANNEL) or over those of an image (HU_IMAGE), or a row
   (HU_ROW). */
void hu_tree_swamping(hu_format f, double *x, size_t n, hu_swamp *count);
void hu_sum_swamping(const hu_map *m, hu_how how, int nout, int out, const size_t *group, size_t n, hu_swamp *count);

/* A precision in bits at which sums of products of up to three of the tensor's values are exact; for values with
   trailing parts, a precision that suffices. */
static inline mpfr_prec_t
hu_sum_bits(const hu_tensor *a)
{
	return a->lows ? HU_EXACT_BITS : hu_is_wide(a->format) ? 8192 : 1280;
}
#endif
