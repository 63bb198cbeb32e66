/* SPDX-License-Identifier: Apache-2.0
   Arithmetic expressions as people type them: + - * / ^ (also the signs for
   minus, times and divided by), brackets, calls, pi, e, inf, nan, numbers in
   decimal or hex. Parsing, the exact value, and the value in a format where
   every literal and every operation is rounded. */
#ifndef HU_ANALYZERS_EXPR_H
#define HU_ANALYZERS_EXPR_H

#include "analyzers/calc/correct.h"
#include "lib/base/status.h"

typedef enum hu_expr_kind {
	HU_EXPR_NUMBER,
	HU_EXPR_CODE,
	HU_EXPR_PI,
	HU_EXPR_E,
	HU_EXPR_INF,
	HU_EXPR_NAN,
	HU_EXPR_CALL
} hu_expr_kind;

typedef struct hu_expr {
	hu_expr_kind kind;
	hu_function function;       /* of a call */
	struct hu_expr **arg;
	int nargs, cap;
	char *text;                 /* of a number or code */
	int column;                 /* from 1 */
} hu_expr;

enum { HU_EXPR_CODES = 1 };         /* flag: a hex integer is a code of the format at hand */

/* Parses `text` whole. HU_EINVAL names the column. *out is freed by hu_expr_free. */
hu_status hu_expr_parse(const char *text, int flags, hu_expr **out);
void hu_expr_free(hu_expr *e);

/* HU_EINVAL where a code has more bits than the format. */
hu_status hu_expr_codes_fit(const hu_expr *e, hu_format f);

/* The exact value, rounded to odd at `out`'s precision p (evaluate_exact.c). Where it is a fraction of integers of at
   most 2^18 bits nothing is lost before; else it is right to 2^-(p + 8) of itself, and a difference of which p to 16 p
   bits show nothing is 0. Codes are those of f. */
void hu_expr_exact(const hu_expr *e, hu_format f, mpfr_ptr out);

struct hu_arithmetic;
struct hu_sum;

/* One rounded operation: its operands X, values of the format, and its result S. Of a sum: its N
   addends and, in partial, the rounded sums after each; where a summation model ran it, Y are the
   second factors of its products (1 of other terms) and start is where it starts. */
typedef struct hu_seen {
	const hu_expr *e;
	const double *x, *y, *partial;
	int n;
	double start, s;
} hu_seen;

typedef void hu_arithmetic_seen(void *to, const struct hu_arithmetic *a, const hu_seen *what);

/* How a format evaluates. Stochastic rounding takes its bits from (seed, stream
   "calc", index = number of the rounding so far). */
typedef struct hu_arithmetic {
	hu_format f;
	hu_mode mode;
	int flags;              /* HU_SATURATE, HU_FTZ, HU_DAZ, HU_RANDOM_BITS(k) */
	uint64_t seed, index;
	int notes;              /* HU_NOTE_… so far; starts at 0 */
	hu_arithmetic_seen *seen;       /* called after each operation and literal; NULL: nobody looks */
	void *to;
	const struct hu_sum *sum;       /* how sum(…) runs (evaluate_sum.h); NULL: from the left */
} hu_arithmetic;

/* Rounds x once. */
double hu_arithmetic_round(hu_arithmetic *a, mpfr_srcptr x);

/* Every literal and operation rounded; sets notes (not SUBNORMAL, which the caller judges by the result). */
double hu_expr_value(const hu_expr *e, hu_arithmetic *a);

/* A literal, code or constant into x, rounded to odd at x's precision. */
void hu_expr_literal(const hu_expr *e, hu_format f, mpfr_ptr x);
#endif
