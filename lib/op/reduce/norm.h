/* SPDX-License-Identifier: Apache-2.0
   Statistics that batchnorm (a channel, over rows) and layernorm (a row, over
   channels) share: HOW is HU_CHANNEL or HU_ROW. Two passes: mean, then the
   biased variance around it. */
#ifndef HU_OP_NORM_H
#define HU_OP_NORM_H

#include "lib/op/reduce/reduce.h"

typedef struct hu_norm { hu_stat mean, var, rstd; } hu_norm;

hu_norm hu_norm_new(const hu_call *c, const hu_tensor *x, hu_how how, int with_errors);
void hu_norm_free(hu_norm *s);
hu_status hu_norm_stat_swamping(
	const hu_call *c, const hu_tensor *x, hu_how how, int out, const size_t *element, size_t n, hu_swamp *count);
/* rstd = 1 / sqrt(var + eps) of variances that are given. */
hu_stat hu_norm_inverse(const hu_call *c, const hu_tensor *var, int with_errors);

/* Both gradients' sums over the groups: SUM[0] of g, SUM[1] of g xhat, g = dy (HU_CHANNEL) or
   gamma dy (HU_ROW), in order of operands x, gamma, mean, rstd, dy. */
void hu_norm_sums(const hu_call *c, hu_tensor *const *in, hu_how how, hu_stat *sum);
hu_status hu_norm_swamping(
	const hu_call *c, hu_tensor *const *in, hu_how how, int out, const size_t *element, size_t n, hu_swamp *count);
/* The means that dx needs: of g and g xhat over each group (layernorm; for batchnorm they are
   hu_norm_sums divided by the number of rows, which hu_norm_divide does in place). */
void hu_norm_divide(const hu_call *c, hu_stat *sum, size_t n);
void hu_norm_means(const hu_call *c, hu_tensor *const *in, hu_how how, hu_stat *mean, int with_errors);

/* Certified: the same statistics of operand 0 = X, and what outputs of one call share. */
typedef struct hu_norm_dd { hu_stat_dd mean, var, rstd; } hu_norm_dd;
void hu_norm_dd_init(hu_norm_dd *s, const hu_call *c, hu_tensor *const *in, hu_how how, const hu_sink *sink);
void hu_norm_dd_release(hu_norm_dd *s);
void hu_norm_inverse_dd(hu_stat_dd *r, const hu_call *c, hu_tensor *const *in, int var, const hu_sink *sink);
/* SUM[0], SUM[1] as hu_norm_sums has them; MEAN as hu_norm_means. */
void hu_norm_sums_dd(const hu_call *c, hu_tensor *const *in, hu_how how, const hu_sink *sink, hu_stat_dd *sum);
void hu_norm_means_dd(const hu_call *c, hu_tensor *const *in, hu_how how, const hu_sink *sink, hu_stat_dd *mean);

/* In a sink's memo: of a normalisation (RUN: the emulated ones, where bounds are wanted) and of its gradient. */
typedef struct hu_norm_memo { hu_memo m; hu_norm_dd exact; hu_norm run; int bounds; } hu_norm_memo;
hu_norm_memo *hu_norm_remember(const hu_call *c, hu_tensor *const *in, hu_how how, hu_sink *sink);
typedef struct hu_norm_dx_memo {
	hu_memo m;
	hu_stat_dd mean[2], sum[2];
	hu_stat run_mean[2], run_sum[2];
	int bounds;
} hu_norm_dx_memo;
hu_norm_dx_memo *hu_norm_dx_remember(const hu_call *c, hu_tensor *const *in, hu_how how, hu_sink *sink);

/* Exactly: mean, var, rstd of a group of N elements from FIRST, STRIDE apart. */
typedef struct hu_norm_exact { mpfr_t mean, var, rstd, t, x; size_t group; } hu_norm_exact;
void hu_norm_exact_init(hu_norm_exact *e, const hu_tensor *x);
void hu_norm_exact_clear(hu_norm_exact *e);
void hu_norm_exact_of(hu_norm_exact *e, const hu_tensor *x, hu_how how, size_t group, double eps);
/* First element, number and stride of a group. */
void hu_norm_group(const hu_tensor *x, hu_how how, size_t group, size_t *first, size_t *n, size_t *stride);
/* y = (x - mean) rstd gamma + beta of element I and channel J; operands x, gamma, beta. */
void hu_norm_exact_apply(hu_norm_exact *e, hu_tensor *const *in, size_t i, size_t j, mpfr_t y);
/* Sums of dy and of dy (x - mean) rstd over channel CHANNEL's rows; MEAN and RSTD as HOW says. */
void hu_norm_exact_db(hu_tensor *const *in, hu_how how, size_t channel, int times_xhat, mpfr_t y);
/* rstd (g - mean(g) - xhat mean(g xhat)) of element I, g = gamma dy, over its group. */
void hu_norm_exact_dx(hu_norm_exact *e, hu_tensor *const *in, hu_how how, size_t i, mpfr_t y);

/* How many groups X has. */
size_t hu_norm_groups(const hu_tensor *x, hu_how how);
/* Q = S / N, certified; Q is initialised. */
void hu_norm_divide_dd(const hu_call *c, const hu_stat_dd *s, hu_stat_dd *q, size_t n);

/* One for each channel, as ascending elements visit every channel in turn, or one alone, as they visit row after row:
   SLOTS of them, an element's being number element % SLOTS. */
hu_norm_exact *hu_norm_exact_new(const hu_tensor *x, hu_how how, size_t *slots);
void hu_norm_exact_free(hu_norm_exact *e, size_t slots);

/* What a row of the families says of itself: what the statistics belong to, a channel (HU_CHANNEL) or a row (HU_ROW);
   and of a gradient its formula of x, gamma, mean, rstd, dy and the two means. hu_family_norm has outputs 0 to 2 (y,
   mean, rstd), hu_family_norm_dx dx, dgamma and dbeta; shape and cost are the rows' own, and a gradient's emulation. */
typedef struct hu_norm_own { hu_how how; const hu_blocks *dx; } hu_norm_own;
extern const hu_columns hu_family_norm, hu_family_norm_dx;

/* Outputs 0 to 2 from statistics that are there. */
void hu_norm_emulate(
	const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env, const hu_norm *s);

/* norm_sums.c and norm_dx.c: the five operands of a gradient; the map of dx with these means; its shape rule. */
void hu_norm_dx_operands(hu_map *m, const hu_call *c, const hu_blocks *blocks, hu_tensor *const *in, hu_how how);
void hu_norm_dx_map(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_stat *mean);
hu_status hu_norm_dx_shape(const hu_call *c, const hu_shape *in, hu_shape *out, size_t groups);
#endif
