/* SPDX-License-Identifier: Apache-2.0
   Compiles the formulas of formula.inc and formulas.def in every numeric type of numerics.def. A formula
   hu_NAME becomes the functions hu_NAME_f32 and, on the host, hu_NAME_f64, hu_NAME_any, hu_NAME_run, hu_NAME_dd and
   hu_NAME_count; cuda/element/short.h makes hu_NAME_short and hu_NAME_plain. */
#ifndef HU_OP_FORMULA_H
#define HU_OP_FORMULA_H

#include "lib/op/element/arithmetic.h"

#ifndef __cplusplus
#include "lib/exact/dd/dd.h"

/* The numeric type "count": a double whose operations are counted, to check the plan's counts (performed.h). */
typedef struct hu_ctx_count { double k[HU_CONSTANTS]; } hu_ctx_count;
static _Thread_local uint64_t hu_operations;

/* Counts one operation. It is a function call rather than ++ in the expression because operands of an expression are
   unsequenced. */
static inline __attribute__((unused)) void
hu_operation(void)
{
	hu_operations++;
}
#define HU_COUNTED(c, x) ((void)(c), hu_operation(), x)

#define NUMERIC_HOST HU_NUMERIC_OF
#define ENCLOSURE HU_ENCLOSURE_OF
#endif
#define NUMERIC HU_NUMERIC_OF
#include "lib/op/element/numerics.def"

/* formula.inc is included once for each numeric type, because a macro cannot include a file. */
#define HU_S f32
#include "lib/op/element/formula.inc"
#ifndef __cplusplus
#define HU_S f64
#include "lib/op/element/formula.inc"
#define HU_S any
#include "lib/op/element/formula.inc"
#define HU_S count
#include "lib/op/element/formula.inc"
#define HU_S run
#include "lib/op/element/formula.inc"
#define HU_S dd
#include "lib/op/element/formula.inc"
#endif
#endif
