/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/ceiling.h"

#include "lib/base/mem.h"
#include "lib/base/progress.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "trainer/manifest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 768, TRIALS = 3, COPY = 64 << 20 };

static hu_status
tensor(hu_tensor *t, hu_format_id f, size_t n, uint32_t stream)
{
	*t = (hu_tensor){ .format = f, .shape = hu_shape2(n, n), .n = n * n, .data = hu_alloc(n * n * hu_element_size(f)) };
	if (!t->data)
		return hu_fail(HU_ENOMEM, "no memory for a product of %zu x %zu", n, n);
	for (size_t i = 0; i < t->n; i++)
		hu_put(t, i, hu_round(hu_uniform(hu_random_at(1, stream, 0, i)) - 0.5, hu_format_of(f), HU_RNE, 0, 0));
	return HU_OK;
}

/* Seconds of the fastest of a few runs of OP on N by N tensors of F. */
static hu_status
fastest(const char *op, int nin, hu_format_id f, size_t n, int repeat, double *seconds)
{
	hu_format_id acc = f == HU_FP64 ? HU_FP64 : HU_FP32;
	hu_call c = { .op = hu_op_find(op), .nin = nin, .nout = 1, .sum = hu_sum_default(), .fmt = { f, acc, acc, f } };
	hu_tensor t[3], *in[2] = { &t[0], &t[1] }, *out[1] = { &t[2] };
	hu_env env = { 1, 0 };
	hu_status st = HU_OK;

	memset(t, 0, sizeof t);
	c.sum.acc = acc;
	for (int i = 0; i < 3 && st == HU_OK; i++)
		st = tensor(&t[i], f, n, (uint32_t)i);
	*seconds = 1e9;
	for (int trial = 0; trial < TRIALS && st == HU_OK; trial++) {
		double start = hu_now();
		for (int k = 0; k < repeat && st == HU_OK; k++)
			st = c.op->emulate(&c, in, out, &env);
		double s = (hu_now() - start) / repeat;
		*seconds = s < *seconds ? s : *seconds;
	}
	for (int i = 0; i < 3; i++)
		free(t[i].data);
	return st;
}

static hu_status
product(hu_format_id f, double *tflops)
{
	double s;

	HU_TRY(fastest("matmul", 2, f, SIDE, 1, &s));
	*tflops = 2e-12 * SIDE * SIDE * SIDE / s;
	return HU_OK;
}

static hu_status
bandwidth(double *gb_s)
{
	char *from = hu_alloc(COPY), *to = hu_alloc(COPY);
	double best = 1e9;

	if (!from || !to) {
		free(from);
		free(to);
		return hu_fail(HU_ENOMEM, "no memory for a copy of %d MB", COPY >> 20);
	}
	memset(from, 1, COPY);
	memset(to, 2, COPY);
	for (int trial = 0; trial < TRIALS; trial++) {
		enum { PART = 1 << 20 };
		double start = hu_now();
#pragma omp parallel for schedule(static)
		for (int i = 0; i < COPY / PART; i++)
			memcpy(to + (size_t)i * PART, from + (size_t)i * PART, PART);
		double s = hu_now() - start;
		best = s < best ? s : best;
	}
	*gb_s = 2e-9 * COPY / best;
	free(from);
	free(to);
	return HU_OK;
}

hu_status
hu_ceiling_measure(hu_peaks *d)
{
	double small;

	*d = (hu_peaks){ .id = "here", .name = hu_machine_processor(), .source = "measured now, emulated" };
	d->gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE) / 0x1p30;
	HU_TRY(product(HU_FP32, &d->fp32));
	HU_TRY(product(HU_FP64, &d->fp64));
	HU_TRY(product(HU_FP16, &d->fp16));
	HU_TRY(product(HU_BF16, &d->bf16));
	HU_TRY(product(HU_TF32, &d->tf32));
	HU_TRY(product(HU_E4M3, &d->fp8));
	HU_TRY(bandwidth(&d->gb_s));
	HU_TRY(fastest("relu", 1, HU_FP32, 1, 1000, &small));
	d->launch_us = 1e6 * small;
	return HU_OK;
}
