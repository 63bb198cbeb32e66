/* SPDX-License-Identifier: Apache-2.0
   One row of op-cases.def as a call with operands, for the tests that walk the op table. */
#ifndef HU_T_OP_CASE_H
#define HU_T_OP_CASE_H

#include "lib/op/op.h"

typedef struct op_row { const char *op, *attrs, *in, *out; } op_row;

/* How the values are drawn: around zero; sixteen octaves, zeros and the smallest subnormal; the
   format's whole range; that with infinities and NaN of odd payloads; far from zero, close together. */
enum { LEVEL_MILD, LEVEL_SPREAD, LEVEL_RANGE, LEVEL_SPECIAL, LEVEL_OFFSET, LEVELS };

typedef struct op_case {
	hu_call c;
	hu_tensor in[16], out[8], *pin[16], *pout[8];
	char kind[16];
	hu_shape shape[8];       /* of the outputs, as given: rank 0 and d[0] 0 where inferred */
} op_case;

/* Row I of op-cases.def; NULL past the last. */
const op_row *op_row_at(int i);

/* Fills in call and inputs and makes the outputs; HU_EINVAL with the operator's reason where it refuses the shapes. */
hu_status op_case_init(op_case *k, const op_row *row, hu_format_id in, hu_format_id compute, hu_format_id out,
	int level, uint64_t seed);
void op_case_release(op_case *k);
hu_status op_case_emulate(op_case *k, const hu_env *env);
/* A tensor of its own with unspecified values. */
hu_tensor op_tensor(hu_format_id f, hu_shape s);
#endif
