/* SPDX-License-Identifier: Apache-2.0
   One operator on arrays: its result with the roundings that are named, and the judgement of anybody's result.
   `halfulp op list` prints the operators, their operands and their attributes.

       halfulp_call *c;
       halfulp_call_new(&c, "softmax");
       halfulp_call_set(c, "out", "bf16");
       halfulp_call_operand(c, 0, x, shape, 2, bf16);
       halfulp_call_judge(&j, c, 0, got, n);

   A result with n elements is judged element by element: its exact value from the operands as they are, its error, and
   the proven bound of what the named roundings may err. */
#ifndef HALFULP_CALL_H
#define HALFULP_CALL_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

enum { HALFULP_RANK = 6 };

typedef struct halfulp_call halfulp_call;
typedef struct halfulp_judgement halfulp_judgement;

/* A call of an operator without operands. HALFULP_EINVAL names the nearest known operator. */
halfulp_status halfulp_call_new(halfulp_call **call, const char *op);
void halfulp_call_free(halfulp_call *call);

/* Sets an attribute of the operator, such as "stride" to "2", or how it computes: "out", "compute" and "acc" are
   formats, "mode" is the rounding to out, "sum" a summation model, "seed" the number that random bits are derived from.
   Where nothing is set, out is the first operand's format, compute and acc are fp32 (fp64 where the first operand is),
   mode is RNE, sum is "fma,acc=fp32" (acc=fp64), and seed is 0. HALFULP_EINVAL names what the operator takes. */
halfulp_status halfulp_call_set(halfulp_call *call, const char *key, const char *value);
/* Copies operand number i, counted from 0: row-major, `rank` lengths in shape (0: a scalar, shape may be NULL), values
   of the format, of which HALFULP_EINVAL names the first that is none. A second call replaces the operand. */
halfulp_status halfulp_call_operand(
	halfulp_call *call, int i, const double *x, const size_t *shape, int rank, const halfulp_format *format);

/* What result number k will be, counted from 0: its shape, rank, number of elements and format. Each pointer may be
   NULL. HALFULP_EINVAL says which operand is missing or does not fit. */
halfulp_status halfulp_call_result(
	const halfulp_call *call, int k, size_t shape[HALFULP_RANK], int *rank, size_t *n, const halfulp_format **format);
/* Computes result k into y, which has room for n doubles: n must be its number of elements. The bits are the same on
   every machine. */
halfulp_status halfulp_call_run(const halfulp_call *call, int k, double *y, size_t n);
/* Judges got, n values of result k's format, row-major, whoever computed them. */
halfulp_status halfulp_call_judge(
	halfulp_judgement **judgement, const halfulp_call *call, int k, const double *got, size_t n);
void halfulp_judgement_free(halfulp_judgement *judgement);

/* The number of elements, and how many of them err by more than the proven bound. */
size_t halfulp_judgement_count(const halfulp_judgement *judgement);
size_t halfulp_judgement_beyond(const halfulp_judgement *judgement);
/* For each element, in arrays that live as long as the judgement: the exact value, rounded once to a double, to odd;
   |got - exact|, to nearest; that in ulps of the result's format; and the bound, +infinity where overflow cannot be
   excluded. Where got and the exact value are the same infinity, or both NaN, the error is 0; where only one of them
   is, it is +infinity. */
const double *halfulp_judgement_exact(const halfulp_judgement *judgement);
const double *halfulp_judgement_error(const halfulp_judgement *judgement);
const double *halfulp_judgement_ulps(const halfulp_judgement *judgement);
const double *halfulp_judgement_bound(const halfulp_judgement *judgement);
/* The first element with the largest error in ulps; 0 where there is no element. */
size_t halfulp_judgement_worst(const halfulp_judgement *judgement);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
