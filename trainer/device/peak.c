/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/peak.h"

#include "cuda/device/device.h"
#include "cuda/probe/probe.h"
#include "cuda/exec/side.h"
#include "lib/base/mem.h"
#include "lib/base/console/progress.h"

#include <stdlib.h>
#include <string.h>

enum { TRIALS = 5, WARPS = 8, MOST_ROUNDS = 1 << 20 };

/* Returns the kind of cuda/probe/probe.h and sets the multiply-adds of one instruction of a warp; for fp32 four per
   lane. */
static int
kind_of(hu_format_id in, hu_format_id out, int matrix, double *macs)
{
	static const struct {
		hu_format_id in, out;
		int kind, k;
	} rows[] = { { HU_FP16, HU_FP32, HU_PROBE_F16, 16 }, { HU_FP16, HU_FP16, HU_PROBE_F16_F16, 16 },
		{ HU_BF16, HU_FP32, HU_PROBE_BF16, 16 }, { HU_TF32, HU_FP32, HU_PROBE_TF32, 8 } };

	*macs = 32 * 4;
	for (size_t i = 0; matrix && i < sizeof rows / sizeof *rows; i++)
		if (rows[i].in == in && rows[i].out == out) {
			*macs = 16.0 * 8 * rows[i].k;
			return rows[i].kind;
		}
	return matrix ? -2 : HU_PROBE_FMA;
}

static hu_status
spin(const hu_side *side, void *queue, int kind, unsigned blocks, unsigned rounds, float *out, double *seconds)
{
	double start = hu_now();

	(void)kind, (void)blocks, (void)rounds, (void)out;
#ifdef HU_HAVE_CUDA
	if (side == &hu_gpu_side)
		HU_TRY(hu_gpu_probe_rate(queue, kind, blocks, WARPS, rounds, out));
#endif
#ifdef HU_HAVE_SHIM
	if (side == &hu_shim_side)
		HU_TRY(hu_shim_probe_rate(queue, kind, blocks, WARPS, rounds, out));
#endif
	HU_TRY(side->wait(queue));
	*seconds = hu_now() - start;
	return HU_OK;
}

/* Checks that every accumulator still has its thread's number. */
static hu_status
check(const hu_side *side, void *queue, unsigned blocks, const float *out)
{
	size_t n = (size_t)blocks * WARPS * 32 * HU_PROBE_CHAINS * 4, wrong = 0;
	float *host = hu_xmalloc(n * sizeof *host);
	hu_status st = side->download(queue, host, out, n * sizeof *host);

	if (st == HU_OK)
		st = side->wait(queue);
	for (size_t i = 0; i < n; i++)
		wrong += host[i] != (float)(i / (HU_PROBE_CHAINS * 4) % (WARPS * 32) % 1024);
	free(host);
	return st != HU_OK ? st
	       : wrong ? hu_fail(HU_EUNABLE, "%zu of %zu accumulators are wrong: the ceiling does not count", wrong, n)
		       : HU_OK;
}

static hu_status
rate(const hu_side *side, void *queue, int kind, unsigned blocks, unsigned rounds, double macs, double *flops)
{
	void *out;
	double seconds;

	HU_TRY(side->alloc(&out, (size_t)blocks * WARPS * 32 * HU_PROBE_CHAINS * 4 * sizeof(float)));
	hu_status st = spin(side, queue, kind, blocks, rounds, out, &seconds);
	/* doubles the rounds until a launch takes some 10 ms */
	while (st == HU_OK && seconds < 0.01 && rounds < MOST_ROUNDS) {
		rounds *= 2;
		st = spin(side, queue, kind, blocks, rounds, out, &seconds);
	}
	*flops = 0;
	for (int i = 0; i < TRIALS && st == HU_OK; i++) {
		st = spin(side, queue, kind, blocks, rounds, out, &seconds);
		double f = 2 * macs * HU_PROBE_CHAINS * (double)rounds * WARPS * (double)blocks / seconds;
		*flops = f > *flops ? f : *flops;
	}
	if (st == HU_OK)
		st = check(side, queue, blocks, out);
	side->release(out);
	return st;
}

static hu_status
find_side(const char *backend, const hu_side **side)
{
	*side = NULL;
#ifdef HU_HAVE_CUDA
	if (!strcmp(backend, "cuda") && hu_device_count())
		*side = &hu_gpu_side;
#endif
#ifdef HU_HAVE_SHIM
	if (!strcmp(backend, "shim"))
		*side = &hu_shim_side;
#endif
	return *side ? HU_OK : hu_fail(HU_EDEVICE, "back end %s: %s", backend, hu_device_why());
}

hu_status
hu_peak_flops(const char *backend, hu_format_id in, hu_format_id out, int matrix, double *flops)
{
	const hu_side *side;
	void *queue;
	double macs;
	int kind = kind_of(in, out, matrix, &macs), real = strcmp(backend, "shim");

	HU_TRY(find_side(backend, &side));
	if (kind < HU_PROBE_FMA)
		return hu_fail(HU_EUNABLE, "no matrix instruction of %s with %s accumulators", hu_format_name(in),
			hu_format_name(out));
	HU_TRY(side->open(&queue));
	/* more blocks than any device runs at once; the shim interprets them, so it gets few */
	hu_status st = rate(side, queue, kind, real ? 4096 : 1, real ? 64 : 1, macs, flops);
	side->close(queue);
	return st;
}

hu_status
hu_peak_copy(const char *backend, size_t bytes, double *bytes_s)
{
	const hu_side *side;
	void *queue, *from = NULL, *to = NULL;
	double best = 0;

	HU_TRY(find_side(backend, &side));
	HU_TRY(side->open(&queue));
	hu_status st = side->alloc(&from, bytes);
	if (st == HU_OK)
		st = side->alloc(&to, bytes);
	if (st == HU_OK)
		st = side->clear(queue, from, bytes);
	for (int i = 0; i < TRIALS + 1 && st == HU_OK; i++) { /* the first trial maps the pages and does not count */
		enum { COPIES = 4 };
		st = side->wait(queue);
		double start = hu_now();
		for (int k = 0; k < COPIES && st == HU_OK; k++)
			st = side->copy(queue, to, from, bytes);
		if (st == HU_OK)
			st = side->wait(queue);
		double b = 2.0 * COPIES * (double)bytes / (hu_now() - start);
		best = b > best ? b : best;
	}
	side->release(from);
	side->release(to);
	side->close(queue);
	*bytes_s = best;
	return st;
}
