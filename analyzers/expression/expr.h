/* SPDX-License-Identifier: Apache-2.0
   Arithmetic expressions as people type them: + - * / ^ (also the signs for minus, times and divided by), brackets,
   calls, casts to a format by its name, pi, e, inf, nan, numbers in decimal or hex. This file declares the
   parser, the exact value, and the value in a format, where the result of every literal and operation is rounded. */
#ifndef HU_ANALYZERS_EXPR_H
#define HU_ANALYZERS_EXPR_H

#include "analyzers/expression/correct.h"
#include "lib/base/status.h"

typedef enum hu_expr_kind {
	HU_EXPR_NUMBER,
	HU_EXPR_CODE,
	HU_EXPR_PI,
	HU_EXPR_E,
	HU_EXPR_INF,
	HU_EXPR_NAN,
	HU_EXPR_CALL,
	HU_EXPR_CAST,
	HU_EXPR_ARRAY /* elements, while an expression is parsed (array.h); none is left afterwards */
} hu_expr_kind;

typedef struct hu_expr {
	hu_expr_kind kind;
	hu_function function;       /* which function a call calls */
	struct hu_expr **arg;
	int nargs, cap;
	char *text;                 /* the digits of a code, or of a number with its sign */
	hu_format_id format;        /* what a cast, such as fp16(x), computes its argument in */
	int column;                 /* from 1 */
} hu_expr;

enum { HU_EXPR_CODES = 1 };         /* flag: a hex integer is a code (bit pattern) of the format at hand */

/* Parses the whole of `text`. HU_EINVAL names the column. The caller frees *out by hu_expr_free. */
hu_status hu_expr_parse(const char *text, int flags, hu_expr **out);
void hu_expr_free(hu_expr *e);

/* Trees by hand (expr_tree.c): an expression without arguments, one more argument, which e owns from then on, a call of
   f on a and, unless it is NULL, b, and a copy. */
hu_expr *hu_expr_new(hu_expr_kind kind, int column);
void hu_expr_add(hu_expr *e, hu_expr *a);
hu_expr *hu_expr_call(hu_function f, int column, hu_expr *a, hu_expr *b);
hu_expr *hu_expr_copy(const hu_expr *e);

/* Returns whether a cast to a format stands anywhere in e. */
int hu_expr_has_cast(const hu_expr *e);

/* HU_EINVAL where a code has more bits than the format. */
hu_status hu_expr_codes_fit(const hu_expr *e, hu_format f);

/* Sets `out` to the exact value, rounded to odd at out's precision p (evaluate_exact.c). A value that is a fraction of
   integers of at most 2^18 bits is computed exactly before that rounding. Any other value has a relative error of at
   most 2^-(p + 8), and a difference that stays zero when it is computed with p to 16 p bits is taken as 0. Hex codes
   are those of f. HU_EINVAL where a sine or cosine of a number beyond 2^65536 would be needed. */
hu_status hu_expr_exact(const hu_expr *e, hu_format f, mpfr_ptr out);

struct hu_arithmetic;
struct hu_sum;

/* One rounded operation: its operands x, which are values of the format, and its result s. For a sum, x has its n
   addends and partial the rounded sum after each; where a summation model executed it, y has the second factors of its
   products (1 for other terms) and start is the value it starts from. */
typedef struct hu_seen {
	const hu_expr *e;
	const double *x, *y, *partial;
	int n;
	double start, s;
} hu_seen;

typedef void hu_arithmetic_seen(void *to, const struct hu_arithmetic *a, const hu_seen *what);

/* How expressions are evaluated in a format. Stochastic rounding takes its bits from (seed, stream "calc", index),
   where index counts the roundings so far. */
typedef struct hu_arithmetic {
	hu_format f;
	hu_mode mode;
	int flags;              /* HU_SATURATE, HU_PROPAGATE, HU_FTZ, HU_DAZ, HU_RANDOM_BITS(k) */
	uint64_t seed, index;
	int notes;              /* HU_NOTE_… of all operations so far; starts at 0 */
	hu_arithmetic_seen *seen;       /* called after each operation and literal, unless NULL */
	void *to;
	const struct hu_sum *sum;       /* model that executes sum(…) (evaluate_sum.h); NULL: from the left */
} hu_arithmetic;

/* Rounds x once to a's format, with a's mode and flags. */
double hu_arithmetic_round(hu_arithmetic *a, mpfr_srcptr x);

/* Returns the value of e where every literal and operation is rounded. Sets a's notes except SUBNORMAL, which the
   caller decides from the result. */
double hu_expr_value(const hu_expr *e, hu_arithmetic *a);

/* Sets x to a literal, code or constant, rounded to odd at x's precision. */
void hu_expr_literal(const hu_expr *e, hu_format f, mpfr_ptr x);
#endif
