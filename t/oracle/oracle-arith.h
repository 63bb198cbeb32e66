/* SPDX-License-Identifier: Apache-2.0
   What an operation in a format must give: MPFR's result toward zero, made odd where anything
   was lost, and t/oracle/oracle.h's rounding of that. And the operation by lib/number/arith.h. */
#ifndef HU_T_ORACLE_ARITH_H
#define HU_T_ORACLE_ARITH_H

#include "t/oracle/oracle.h"

typedef enum arith_op { ARITH_ADD, ARITH_SUB, ARITH_MUL, ARITH_DIV, ARITH_SQRT, ARITH_FMA, ARITH_OPS } arith_op;

typedef struct arith_exact {
	oracle o, down;  /* down: of MPFR's result toward -infinity, which has another sign where it is zero */
	int made_nan;    /* of operands that are none */
} arith_exact;

/* b and c are ignored where the operation has fewer operands. */
void arith_look(arith_exact *x, arith_op op, double a, double b, double c, hu_format f);
hu_rounded arith_wanted(const arith_exact *x, hu_format f, hu_mode mode, int flags, uint32_t rand);
hu_rounded arith_got(arith_op op, double a, double b, double c, hu_format f, hu_mode mode, int flags, uint32_t rand);

/* Counts disagreements over all modes, the last kept. */
typedef struct arith_tally { long points, wrong; arith_op op; hu_mode mode; double a, b, c; } arith_tally;
void arith_check(arith_tally *t, arith_op op, double a, double b, double c, hu_format f, int flags, uint32_t rand);
int arith_told(const arith_tally *t, const char *what, hu_format f);
#endif
