/* SPDX-License-Identifier: Apache-2.0
   What happens when a fast exact value is wrong: the judge that samples them again by MPFR must notice, print the
   operands and both values, and give that call no verdict, while the next call has one. Three liars:
   an operator's enclosure, the source of an exact product
   that hands out another number at the second reading, and one bit of an exact sum. */
#include <stdio.h> /* before mpfr.h */

#include "lib/judge/judge.h"
#include "lib/base/mem.h"
#include "lib/exact/gemm.h"
#include "lib/exact/judge.h"
#include "lib/op/sink.h"
#include "t/tool/aborts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 20, N = 16, K = 7, DISAGREED = 5 };

static int off;      /* whether the liar lies */

static hu_sink *honest;

static void
take(hu_sink *s, const hu_tile *t)
{
	(void)s;
	for (size_t i = 0; i < t->n && off; i++) { /* in the place where a digit of the error shows it */
		t->lo[i] += t->hi[i] * 0x1p-60;
		t->err[i] = t->hi[i] * 0x1p-100;
	}
	honest->take(honest, t);
}

static hu_status
lying(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *s)
{
	hu_sink mine = { .take = take, .bounds = s->bounds };

	honest = s;
	return HU_COLUMN(&hu_op_matmul, enclose)(c, in, out, element, n, &mine);
}

/* What the enclosing liar's message says of an element is that element's: its value as the product of the operands. */
static int
of_its_element(void)
{
	const char *at = strstr(said, "certified value of element "), *e = strstr(said, "enclosed: ");
	double hi, lo, err;
	long double want = 0; /* exactly: products of 48 bits, of which seven are added */
	size_t i;

	if (!at || !e || sscanf(at, "certified value of element %zu", &i) != 1 ||
		sscanf(e, "enclosed: %la + %la within %la", &hi, &lo, &err) != 3 || i >= M * N)
		return 0;
	for (int k = 0; k < K; k++)
		want += (long double)(1 + (float)(i / N * K + (size_t)k) / 7) *
			(long double)(2 - (float)((size_t)k * N + i % N) / 31);
	return hi == (double)want && lo == (double)(want - hi) + hi * 0x1p-60 && err == hi * 0x1p-100;
}

static void
ignore(void *context, const hu_judging *some)
{
	(void)context;
	(void)some;
}

static void
enclosure(void *with)
{
	(void)with;
	static float a[M * K], b[K * N], y[M * N];
	hu_op liar = hu_op_matmul;
	hu_tensor ta = { .format = HU_FP32, .shape = hu_shape2(M, K), .n = M * K, .data = a },
		  tb = { .format = HU_FP32, .shape = hu_shape2(K, N), .n = K * N, .data = b };
	hu_tensor ty = { .format = HU_FP32, .shape = hu_shape2(M, N), .n = M * N, .data = y }, *in[2] = { &ta, &tb };
	hu_call c = { .op = &liar,
		.phase = HU_FORWARD,
		.nin = 2,
		.nout = 1,
		.fmt = { HU_FP32, HU_FP32, HU_FP32, HU_FP32 },
		.mode = HU_RNE };
	hu_methods methods = { 0 };
	const hu_engine *engine;

	c.sum = hu_sum_default();
	strcpy(c.layer, "test");
	liar.own.enclose = lying;
	for (int i = 0; i < M * K; i++)
		a[i] = 1 + (float)i / 7;
	for (int i = 0; i < K * N; i++)
		b[i] = 2 - (float)i / 31;
	if (hu_engine_find("auto", &engine))
		_exit(1);
	hu_judge_job job = { .engine = engine, .c = &c, .in = in, .got = &ty, .n = M * N, .seed = 1, .take = ignore };
	hu_status st = hu_judge_each(&job, &methods);
	if (!methods.again)
		_exit(3);
	if (st == HU_OK)
		return;
	off = 0; /* the same call without the lie is judged as if nothing had been */
	if (st != HU_EUNABLE || !strstr(hu_reason(), "not judged") || hu_judge_each(&job, &methods) != HU_OK)
		_exit(2);
	_exit(DISAGREED);
}

/* A source whose rows change once they have been read. */
static int readings;

static void
row(void *context, size_t batch, size_t i, size_t k0, size_t k1, double *x)
{
	(void)context;
	(void)batch;
	for (size_t k = k0; k < k1; k++)
		x[k - k0] = 1 + (double)(i * 31 + k) / 64 + (off && readings >= 5 && k == 3 ? 0x1p-20 : 0);
	readings++;
}

static void
column(void *context, size_t batch, size_t j, size_t k0, size_t k1, double *x)
{
	(void)context;
	(void)batch;
	for (size_t k = k0; k < k1; k++)
		x[k - k0] = 2 - (double)(j * 17 + k) / 128;
}

static void
no_take(void *context, const hu_exact_tile *tile, size_t batch, size_t i0, size_t m, size_t j0, size_t n)
{
	(void)context, (void)tile, (void)batch, (void)i0, (void)m, (void)j0, (void)n;
}

static void
product(void *with)
{
	hu_exact_source s = { .batches = 1, .m = 5, .n = 4, .k = 11, .row = row, .column = column };

	(void)with;
	readings = 0;
	hu_exact_gemm(&s, no_take, NULL);
	if (hu_exact_disagreements())
		_exit(DISAGREED);
}

static void
sum(void *with)
{
	double a[3] = { 1, 0x1p-30, 3 }, b[3] = { 5, 7, -1 };
	mpfr_t x, y;

	(void)with;
	mpfr_init2(x, 200);
	mpfr_init2(y, 200);
	mpfr_set_d(x, 2 + 7 * 0x1p-30, MPFR_RNDN);
	mpfr_set_d(y, 2 + 7 * 0x1p-30, MPFR_RNDN);
	if (off)
		mpfr_nextabove(x);
	if (mpfr_cmp(x, y))
		hu_exact_disagree(x, y, a, b, 3);
	if (hu_exact_disagreements())
		_exit(DISAGREED);
}

int
main(void)
{
	static const struct { void (*f)(void *); const char *name, *operands, *values; } liars[] = {
		{ enclosure, "an enclosure that is off by 2^-60", "operand 0, element 0 of 140: 0x1p+0", "enclosed: " },
		{ product, "a source that changes between two readings", " * 0x1.", "engine: " },
		{ sum, "one bit of an exact sum", "0x1p-30 * 0x1.cp+2", "engine: 0x" },
	};

	for (size_t i = 0; i < sizeof liars / sizeof *liars; i++) {
		off = 0;
		if (!ok(!aborts(liars[i].f, NULL) && !*said && ended == 0, "%s: without the lie all is well",
			    liars[i].name))
			diag("%.300s", said);
		off = 1;
		if (!ok(!aborts(liars[i].f, NULL) && ended == DISAGREED &&
				    strstr(said, liars[i].operands) && strstr(said, liars[i].values) &&
				    strstr(said, "MPFR:") && (liars[i].f != enclosure || of_its_element()),
			    "%s: the operands and both values are printed, and the call has no verdict", liars[i].name))
			diag("%.300s", said);
	}
	return done_testing();
}
