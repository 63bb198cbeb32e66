/* SPDX-License-Identifier: Apache-2.0
   One operator on arrays from files: the computation and the comparison of the command op. */
#ifndef HU_ANALYZERS_OP_RUN_H
#define HU_ANALYZERS_OP_RUN_H

#include "lib/base/console/opt.h"
#include "lib/program/spread/backend.h"
#include "lib/store/npz.h"

/* What computes the result: a back end (emulate is the CPU's), the reference, or the error bound. */
enum { HU_AS_BACKEND, HU_AS_REFERENCE, HU_AS_BOUND };
enum { HU_OP_INPUTS = 8, HU_OP_OUTPUTS = 8 };

typedef struct hu_op_run {
	int as, dot, nin, codes;       /* codes: arrays of integers hold codes (bit patterns) of their format */
	int result;                    /* index of the result among those of the operator */
	const hu_backend *backend;
	hu_gemm_way gemm;
	hu_npy file[HU_OP_INPUTS];
	hu_npy scale[2];               /* scales of a and b where sums are block-scaled; without data the operands are
				          quantised here */
	hu_call call;
	hu_format_id in[HU_OP_INPUTS], outs[HU_OP_OUTPUTS];
	hu_sum sum;                    /* resolved */
	int every_sum;                 /* --sum all: op_sums.h tries them, and sum does not count */
	hu_env env;
	hu_tensor tensor[HU_OP_INPUTS];
	hu_shape shape;                /* shape of the result; `out` is its format */
	hu_format out;
	size_t n;
	double *value;                 /* the back end's result; with HU_AS_REFERENCE the exact one rounded once */
	double *bound;                 /* the proven error bound; this and the members below are NULL unless asked
				          for */
	mpfr_t *exact;
	double *magnitude, *probable; /* magnitude is Σ|terms|; probable is the probabilistic bound, which is never
				         above the proven one, NaN where there is none */
	hu_roundings roundings;
	double confidence, lambda; /* confidence is the probability with which all results satisfy the probabilistic
				      bound; lambda follows from it */
} hu_op_run;

/* Returns 1 where the line has --sum all. */
int hu_op_every_sum(const hu_args *args);
/* Reads the command's options and files. hu_op_run_close(r) is allowed whatever this returns. */
hu_status hu_op_run_open(hu_op_run *r, const hu_args *args);
/* Fills value; also exact and bound where judged is 1 or r->as needs them. */
hu_status hu_op_run_all(hu_op_run *r, int judged);
/* Writes the values (or bounds) as float32, or as float64 where float32 does not hold them. With packed they are
   written in the format's own codes, as f2, f4 or f8 where NumPy has the format, otherwise as u1, u2 or u4. */
hu_status hu_op_codes_write(const hu_op_run *r, const char *path, int packed);
/* Returns element i of an array: its number, or, where r->codes is set and the array has integers, the value in f that
   the code stands for. */
double hu_op_codes_element(const hu_op_run *r, const hu_npy *a, size_t i, hu_format f);
/* Returns element i of an operand as the call takes it: in the operand's format, to nearest even; with chop as a tensor
   core takes it, a word of fp32 without its low 13 bits (hu_tc_tf32). */
double hu_op_codes_operand(const hu_op_run *r, int operand, size_t i, int chop);
/* HU_EFILE names the first element that is wider than a code of f, where r->codes is set and the array, called `what`
   in the message, has integers. */
hu_status hu_op_codes_fit(const hu_op_run *r, const hu_npy *a, const char *what, hu_format f);
/* Returns the code of result x. For a NaN of dot by a tensor core it is the code that the hardware writes; elsewhere
   NaN has one code. */
uint64_t hu_op_codes_of(const hu_op_run *r, double x);
void hu_op_run_close(hu_op_run *r);

/* Fills r->n, shape, value, exact and bound for the rows of dot (op_dot.c). */
hu_status hu_op_run_dots(hu_op_run *r, int judged);
#endif
