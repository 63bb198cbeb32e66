/* SPDX-License-Identifier: Apache-2.0
   halfulp op NAME: an operator on arrays of the user's own, and somebody else's result judged. */
#include "analyzers/judge.h"
#include "analyzers/op_run.h"
#include "lib/base/opt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "in", "NAME=FILE", NULL, "operand a, b, c, ... from a .npy file; repeatable" },
	{ "set", "KEY=VALUE", NULL, "attribute of the operator, or in=, out= (formats), mode=; repeatable" },
	{ "sum", "MODEL", NULL, "summation model (default fma in fp32; in fp64 for fp64 operands)" },
	{ "out", "FILE", NULL, "write the result as .npy" },
	{ "got", "FILE", NULL, "judge this result; exit 1 where it is wrong" },
	{ "as", "HOW", "emulate", "emulate: what the formats give; reference: exact, rounded once; bound: of the error" },
	{ "seed", "K", "0", "of stochastic rounding" },
	{ NULL, NULL, NULL, NULL }
};

/* What GOT is beside the result: wrong elements are those that differ from the emulation (or the
   exact result rounded once, by --as reference), with --as bound those beyond the bound. */
static hu_status
judge(const hu_op_run *r, const hu_npy *got, int *wrong)
{
	size_t differ = 0, over = 0, worst = 0;
	double most = -1;

	if (got->count != r->n)
		return hu_fail(HU_EFILE, "--got has %zu elements, the result %zu", got->count, r->n);
	for (size_t i = 0; i < r->n; i++) {
		double x = hu_npy_real(got, i), ulps = hu_judge_ulps(x, r->exact[i], r->out);
		differ += isnan(x) ? !isnan(r->value[i]) : hu_bits64(x) != hu_bits64(r->value[i]);
		if (ulps > most) {
			most = ulps;
			worst = i;
		}
		if (r->bound[i] < INFINITY) {
			mpfr_t d;
			mpfr_init2(d, 2400);
			mpfr_d_sub(d, x, r->exact[i], MPFR_RNDN);
			mpfr_abs(d, d, MPFR_RNDN);
			over += !(mpfr_cmp_d(d, r->bound[i]) <= 0) || mpfr_nan_p(d);
			mpfr_clear(d);
		}
	}
	*wrong = r->as == HU_AS_BOUND ? over != 0 : differ != 0;
	printf("elements   %zu\n", r->n);
	printf("differ     %zu from %s\n", differ, r->as == HU_AS_REFERENCE ? "the exact result rounded once" : "the emulation");
	printf("over bound %zu\n", over);
	if (r->n)
		printf("max error  %.6g ulp of %s at element %zu: %.17g\n", most, hu_format_name(r->out.id), worst, hu_npy_real(got, worst));
	return HU_OK;
}

static hu_status
all(const hu_args *args, int *wrong)
{
	hu_op_run r;
	hu_npy got;
	const char *path = hu_args_text(args, "got");
	hu_status st = hu_op_run_open(&r, args);

	if (st == HU_OK)
		st = hu_op_run_all(&r, path != NULL);
	if (st == HU_OK && hu_args_text(args, "out"))
		st = hu_op_run_write(&r, hu_args_text(args, "out"));
	if (st == HU_OK && path && (st = hu_npy_read(&got, path)) == HU_OK) {
		st = judge(&r, &got, wrong);
		hu_npy_release(&got);
	}
	hu_op_run_close(&r);
	return st;
}

static int
run(const hu_args *args)
{
	int wrong = 0;
	hu_status st = all(args, &wrong);

	mpfr_free_cache();
	return st == HU_OK ? (wrong ? HU_EXIT_JUDGED : HU_EXIT_OK) : hu_complain(st);
}

const hu_command hu_cmd_op = {
	"op", "NAME --in a=A.npy [--in b=B.npy ...] [--out D.npy] [--got MINE.npy]", "run an operator on .npy arrays, or judge a result of it",
	"Operands are first rounded to the format in= (fp32; fp64 for arrays of doubles), c of dot to out=.\n"
	"dot: d[i] = sum over k of a[i,k] b[i,k] + c[i], one row an element; any other name is an operator\n"
	"of the table, such as matmul. The result holds the values exactly, in float32 where it can.\n"
	"With --sum tc:ARCH,in=...,out=... dot returns what a tensor core returns; a NaN keeps its code.\n"
	"--got differs where it is not the same bits (any NaN is a NaN): exit 1. With --as bound only\n"
	"errors beyond the proven bound are wrong.",
	opts, run
};
