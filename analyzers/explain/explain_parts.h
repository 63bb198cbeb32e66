/* SPDX-License-Identifier: Apache-2.0
   What the drawings of operations, sums and blocks share. */
#ifndef HU_ANALYZERS_EXPLAIN_PARTS_H
#define HU_ANALYZERS_EXPLAIN_PARTS_H

#include "analyzers/explain/explain.h"
#include "analyzers/explain/explain_frame.h"
#include "lib/sum/tc.h"

/* Any sum of two products of fp64 values is exact in so many bits. */
enum { HU_EXPLAIN_EXACT = 4400 };

/* Weight of the last bit that f keeps of v (v zero: its smallest subnormal's). */
long hu_explain_line(mpfr_srcptr v, hu_format f);
/* A value in at most ten digits, or the shortest that tells it apart in f; `text` of 40 bytes. */
const char *hu_explain_number(double x, hu_format f, char *text);

/* The rows of a rounding: v exact (`more`: its bits go on) with marks, and s below it; `rule`: a line above. */
void hu_explain_rows(
	hu_frame *f, const hu_arithmetic *a, const char *label, mpfr_srcptr v, int more, double s, int rule);
/* Guard, round and sticky, what they decide, subnormals, overflow. */
void hu_explain_rounding(hu_drawing *d, const hu_arithmetic *a, mpfr_srcptr v, int more, double s);

/* s = x + y rounded, the two called `name` and `other`. */
void hu_explain_add(
	hu_drawing *d, const hu_arithmetic *a, double x, const char *name, double y, const char *other, double s);
void hu_explain_fma(hu_drawing *d, const hu_arithmetic *a, const double *x, double s);
void hu_explain_mul(hu_drawing *d, const hu_arithmetic *a, double x, double y, double s);
/* Any other function: its exact value, rounded once. */
void hu_explain_other(hu_drawing *d, const hu_arithmetic *a, const hu_seen *what);
/* The steps of a sum, or of a fused chain of products; the terms are called prefix and a number, from `first` on. */
void hu_explain_steps(
	hu_drawing *d, const hu_arithmetic *a, const hu_seen *what, const char *heading, const char *prefix, int first);
/* A sum by a summation model other than tc. */
void hu_explain_model(hu_drawing *d, const hu_arithmetic *a, const hu_seen *what);
/* Whether the blocks of such a tensor core are drawn. */
int hu_explain_unit(hu_tc t);
/* The blocks of a tensor core. */
void hu_explain_blocks(hu_drawing *d, const hu_arithmetic *a, const hu_seen *what);
#endif
