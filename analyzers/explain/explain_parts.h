/* SPDX-License-Identifier: Apache-2.0
   Functions that the drawings of operations, sums and blocks share. */
#ifndef HU_ANALYZERS_EXPLAIN_PARTS_H
#define HU_ANALYZERS_EXPLAIN_PARTS_H

#include "analyzers/explain/explain.h"
#include "analyzers/explain/explain_frame.h"
#include "lib/sum/tc/tc.h"

/* A precision in bits at which any sum of two products of fp64 values is exact. */
enum { HU_EXPLAIN_EXACT = 4400 };

/* Returns the weight of the last bit that f keeps of v; for v = 0 that of the smallest subnormal. */
long hu_explain_line(mpfr_srcptr v, hu_format f);
/* Writes x in at most ten digits, or the shortest decimal that identifies it in f, into `text` of 40 bytes, which is
   returned. */
const char *hu_explain_number(double x, hu_format f, char *text);

/* Appends the rows of a rounding: the exact value v with guard, round and sticky marks (`more`: v has further bits),
   and the rounded value s below it. `rule` draws a line above. */
void hu_explain_rows(
	hu_frame *f, const hu_arithmetic *a, const char *label, mpfr_srcptr v, int more, double s, int rule);
/* Appends words on guard, round and sticky bits, what they decide, subnormals and overflow. */
void hu_explain_rounding(hu_drawing *d, const hu_arithmetic *a, mpfr_srcptr v, int more, double s);

/* Draws s = x + y rounded, where the operands are called `name` and `other`. */
void hu_explain_add(
	hu_drawing *d, const hu_arithmetic *a, double x, const char *name, double y, const char *other, double s);
void hu_explain_fma(hu_drawing *d, const hu_arithmetic *a, const double *x, double s);
void hu_explain_mul(hu_drawing *d, const hu_arithmetic *a, double x, double y, double s);
/* Draws any other function: its exact value, rounded once. */
void hu_explain_other(hu_drawing *d, const hu_arithmetic *a, const hu_seen *what);
/* Draws the steps of a sum, or of a chain of fused multiply-adds; the terms are called prefix and a number, from
   `first` on. */
void hu_explain_steps(
	hu_drawing *d, const hu_arithmetic *a, const hu_seen *what, const char *heading, const char *prefix, int first);
/* Draws a sum by a summation model other than a tensor core's. */
void hu_explain_model(hu_drawing *d, const hu_arithmetic *a, const hu_seen *what);
/* Returns 1 where the blocks of such a tensor core are drawn. */
int hu_explain_unit(hu_tc t);
/* Draws the blocks (the products that are added at once) of a tensor core's sum. */
void hu_explain_blocks(hu_drawing *d, const hu_arithmetic *a, const hu_seen *what);
#endif
