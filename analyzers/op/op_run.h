/* SPDX-License-Identifier: Apache-2.0
   One operator on arrays from files: what the command op computes and judges. */
#ifndef HU_ANALYZERS_OP_RUN_H
#define HU_ANALYZERS_OP_RUN_H

#include "lib/base/console/opt.h"
#include "lib/program/backend.h"
#include "lib/store/npz.h"

/* Who computes: a back end (emulate is that of the CPU), the reference, or the bound. */
enum { HU_AS_BACKEND, HU_AS_REFERENCE, HU_AS_BOUND };
enum { HU_OP_INPUTS = 8, HU_OP_OUTPUTS = 8 };

typedef struct hu_op_run {
	int as, dot, nin, codes;       /* codes: arrays of integers hold codes of their format */
	int result;                    /* which of the operator's results */
	const hu_backend *backend;
	hu_gemm_way gemm;
	hu_npy file[HU_OP_INPUTS];
	hu_npy scale[2];               /* of a and b where sums are block-scaled; without data: quantised here */
	hu_call call;
	hu_format_id in[HU_OP_INPUTS], outs[HU_OP_OUTPUTS];
	hu_sum sum;                    /* resolved */
	hu_env env;
	hu_tensor tensor[HU_OP_INPUTS];
	hu_shape shape;                /* of the result, as its format OUT */
	hu_format out;
	size_t n;
	double *value;                 /* the back end's result, or the exact one rounded once (HU_AS_REFERENCE) */
	double *bound;                 /* NULL, as the rest, unless asked for */
	mpfr_t *exact;
	double *magnitude, *probable; /* Σ|terms|, for the probabilistic bound, which is never above the proven one; NaN
					 where there is none */
	hu_roundings roundings;
	double confidence, lambda; /* all results keep the probabilistic bound with this probability; lambda follows */
} hu_op_run;

/* Reads the command's options and files. *r can be closed whatever this returns. */
hu_status hu_op_run_open(hu_op_run *r, const hu_args *args);
/* Fills value, and exact and bound where judged or where `as` needs them. */
hu_status hu_op_run_all(hu_op_run *r, int judged);
/* Values (or bounds) as float32, as float64 where that does not hold them; packed: in the format's own
   codes, for which NumPy has a dtype (f2, f4, f8) or which are u1, u2 or u4. */
hu_status hu_op_run_write(const hu_op_run *r, const char *path, int packed);
/* Element i of an array: its number, or with r->codes the value that an integer's code has in f. */
double hu_op_run_element(const hu_op_run *r, const hu_npy *a, size_t i, hu_format f);
/* HU_EFILE names the first element of `what` (an array of integers, with r->codes) that is wider than a code of f. */
hu_status hu_op_run_codes(const hu_op_run *r, const hu_npy *a, const char *what, hu_format f);
/* The code of result x: what the hardware of a tensor core writes for a NaN of dot; elsewhere NaN has one code. */
uint64_t hu_op_run_code(const hu_op_run *r, double x);
void hu_op_run_close(hu_op_run *r);
/* Fills probable and lambda from exact, bound, magnitude and roundings; where roundings say why there is no such bound,
   with NaN. */
hu_status hu_op_run_probable(hu_op_run *r);

/* r->n, shape, value, exact and bound of the rows of dot (op_dot.c). */
hu_status hu_op_run_dots(hu_op_run *r, int judged);
#endif
