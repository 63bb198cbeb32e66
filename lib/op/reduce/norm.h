/* SPDX-License-Identifier: Apache-2.0
   Statistics that batchnorm (one per channel, over rows) and layernorm (one per row, over channels) share; how is
   HU_CHANNEL or HU_ROW. There are two passes: the mean, then the biased variance around it. */
#ifndef HU_OP_NORM_H
#define HU_OP_NORM_H

#include "lib/op/narrow/narrow.h"
#include "lib/op/reduce/reduce.h"
#include "lib/op/scalars.h"

typedef struct hu_norm { hu_stat mean, var, rstd; } hu_norm;

/* Emulated statistics of x, rounded as the call says, with error bounds if with_errors is set. Freed by
   hu_norm_free. */
hu_norm hu_norm_new(const hu_call *c, const hu_tensor *x, hu_how how, int with_errors);
void hu_norm_free(hu_norm *s);
/* Counts the additions behind listed elements, which ascend, of statistic output out. */
hu_status hu_norm_stat_swamping(
	const hu_call *c, const hu_tensor *x, hu_how how, int out, const size_t *element, size_t n, hu_swamp *count);
/* rstd = 1 / sqrt(var + eps) of given variances. */
hu_stat hu_norm_inverse(const hu_call *c, const hu_tensor *var, int with_errors);

/* The sums over groups that a norm's gradients need: sum[0] of g, sum[1] of g xhat, where xhat is the normalised x and
   g is dy (HU_CHANNEL) or gamma dy (HU_ROW). The operands in are x, gamma, mean, rstd, dy. */
void hu_norm_sums(const hu_call *c, hu_tensor *const *in, hu_how how, hu_stat *sum);
hu_status hu_norm_swamping(
	const hu_call *c, hu_tensor *const *in, hu_how how, int out, const size_t *element, size_t n, hu_swamp *count);
/* The means that dx needs, of g and g xhat over each group. hu_norm_means computes layernorm's; batchnorm's are
   hu_norm_sums divided by the number of rows, which hu_norm_divide does in place. */
void hu_norm_divide(const hu_call *c, hu_stat *sum, size_t n);
void hu_norm_means(const hu_call *c, hu_tensor *const *in, hu_how how, hu_stat *mean, int with_errors);

/* The same statistics of operand 0 = x as certified values, and what the outputs of one call share. */
typedef struct hu_norm_dd { hu_stat_dd mean, var, rstd; } hu_norm_dd;
void hu_norm_inverse_dd(hu_stat_dd *r, const hu_call *c, hu_tensor *const *in, int var, const hu_sink *sink);

/* What a sink's memo holds of a normalisation and of its gradient: certified statistics and, if bounds are wanted, the
   emulated ones (run). part says of which rows, or columns, they are; of all where its last is 0; and keeps the nt
   operands that were narrowed to these, of which only copied[k] are its own memory. */
typedef struct hu_norm_part {
	hu_memo m;
	hu_span some;
	int columns, nt;
	hu_tensor *t;
	char *copied;
} hu_norm_part;
void hu_norm_part_release(hu_norm_part *p);
typedef struct hu_norm_memo { hu_norm_part part; hu_norm_dd exact; hu_norm run; int bounds; } hu_norm_memo;
hu_norm_memo *hu_norm_remember(const hu_call *c, hu_tensor *const *in, hu_how how, hu_sink *sink);
typedef struct hu_norm_dx_memo {
	hu_norm_part part;
	hu_stat_dd mean[2], sum[2];
	hu_stat run_mean[2], run_sum[2];
	int bounds;
} hu_norm_dx_memo;
hu_norm_dx_memo *hu_norm_dx_remember(const hu_call *c, hu_tensor *const *in, hu_how how, hu_sink *sink);

/* Exact mean, var and rstd of one group; hu_norm_exact_of computes them for group number group. */
typedef struct hu_norm_exact { mpfr_t mean, var, rstd, t, x; size_t group; } hu_norm_exact;
void hu_norm_exact_init(hu_norm_exact *e, const hu_tensor *x);
void hu_norm_exact_clear(hu_norm_exact *e);
void hu_norm_exact_of(hu_norm_exact *e, const hu_tensor *x, hu_how how, size_t group, double eps);
/* y = (x - mean) rstd gamma + beta of element i, which is in channel j; the operands are x, gamma, beta. */
void hu_norm_exact_apply(hu_norm_exact *e, hu_tensor *const *in, size_t i, size_t j, mpfr_t y);
/* Sums dy, or dy (x - mean) rstd if times_xhat is set, over a channel's rows; how says which mean and rstd belong to an
   element. */
void hu_norm_exact_db(hu_tensor *const *in, hu_how how, size_t channel, int times_xhat, mpfr_t y);
/* rstd (g - mean(g) - xhat mean(g xhat)) of element i, with g = gamma dy and the means over i's group. */
void hu_norm_exact_dx(hu_norm_exact *e, hu_tensor *const *in, hu_how how, size_t i, mpfr_t y);

/* The number of groups of x. */
size_t hu_norm_groups(const hu_tensor *x, hu_how how);
/* q = s / n, certified; q must be initialised. */
void hu_norm_divide_dd(const hu_call *c, const hu_stat_dd *s, hu_stat_dd *q, size_t n);

/* Room for exact statistics: one set per channel, because ascending elements visit every channel in turn, or a single
   set for rows, which are visited one after another. *slots is their number, and an element uses set number element %
   *slots. */
hu_norm_exact *hu_norm_exact_new(const hu_tensor *x, hu_how how, size_t *slots);
void hu_norm_exact_free(hu_norm_exact *e, size_t slots);

/* What a row of the families supplies: whether statistics belong to a channel (HU_CHANNEL) or a row (HU_ROW), and for a
   gradient the formula of dx from x, gamma, mean, rstd, dy and the two means. hu_family_norm has outputs 0 to 2 (y,
   mean, rstd), hu_family_norm_dx has dx, dgamma and dbeta. Shape, cost and a gradient's emulation are the rows' own. */
typedef struct hu_norm_own { hu_how how; const hu_blocks *dx; } hu_norm_own;
extern const hu_columns hu_family_norm, hu_family_norm_dx;

/* Computes outputs 0 to 2 from given statistics. */
void hu_norm_emulate(
	const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env, const hu_norm *s);

/* The grain of a call (op.h): a row, of layernorm; some channels, of batchnorm. */
size_t hu_norm_grain(const hu_call *c, const hu_shape *in, size_t *row);

/* Whether the sink wants a region of output out that hu_norm_narrowed encloses: elements of batchnorm's output 0 that
   are no columns it does not. */
int hu_norm_is_narrow(const hu_call *c, int out, const hu_sink *sink);
/* Encloses the sink's region of output out of a norm, or of its gradient, as if the call had been one on the rows that
   the region lies in, or, by channels and where the output has an element for each, on its columns. enclose is the
   operator's column. */
typedef hu_status hu_norm_enclose(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink);
hu_status hu_norm_narrowed(
	const hu_call *c, hu_tensor *const *in, int out, hu_sink *sink, hu_norm_enclose *enclose);

/* norm_sums.c and norm_dx.c: adds the five operands of a gradient to a map; sets up the map of dx with the given means;
   the gradient's shape rule. */
void hu_norm_dx_operands(hu_map *m, const hu_call *c, const hu_blocks *blocks, hu_tensor *const *in, hu_how how);
void hu_norm_dx_map(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_stat *mean);
hu_status hu_norm_dx_shape(const hu_call *c, const hu_shape *in, hu_shape *out, size_t groups);
#endif
