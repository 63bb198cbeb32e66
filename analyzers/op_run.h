/* SPDX-License-Identifier: Apache-2.0
   One operator on arrays from files: what the command op computes and judges. */
#ifndef HU_ANALYZERS_OP_RUN_H
#define HU_ANALYZERS_OP_RUN_H

#include "lib/base/opt.h"
#include "lib/op/op.h"
#include "lib/store/npy.h"

enum { HU_AS_EMULATE, HU_AS_REFERENCE, HU_AS_BOUND };
enum { HU_OP_INPUTS = 8 };

typedef struct hu_op_run {
	int as, dot, nin;
	hu_npy file[HU_OP_INPUTS];
	hu_call call;
	hu_format_id in;
	hu_sum sum;              /* resolved */
	hu_env env;
	hu_tensor tensor[HU_OP_INPUTS];
	hu_shape shape;          /* of the result */
	hu_format out;
	size_t n;
	double *value;           /* the emulation, or the exact result rounded once (HU_AS_REFERENCE) */
	double *bound;           /* NULL, as exact, unless asked for */
	mpfr_t *exact;
} hu_op_run;

/* Reads the command's options and files. *R can be closed whatever this returns. */
hu_status hu_op_run_open(hu_op_run *r, const hu_args *args);
/* Fills value, and exact and bound where JUDGED or where `as` needs them. */
hu_status hu_op_run_all(hu_op_run *r, int judged);
/* Values (or bounds) as float32, as float64 where that does not hold them. */
hu_status hu_op_run_write(const hu_op_run *r, const char *path);
void hu_op_run_close(hu_op_run *r);
#endif
