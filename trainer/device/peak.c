/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/peak.h"

#include "cuda/device/device.h"
#include "cuda/probe/probe.h"
#include "cuda/fuse/side.h"
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"

#include <stdlib.h>
#include <string.h>

enum { TRIALS = 5, WARPS = 8, MOST_ROUNDS = 1 << 20 };

/* The instructions of a format: what mma.sync has (kind, products of 16 x 8 x k) and what the warpgroup units have
   (group, products of 64 x 256 x deep); -2: none. */
typedef struct unit { hu_format_id in, out; int kind, k, group, deep; } unit;

static const unit *
unit_of(hu_format_id in, hu_format_id out)
{
	static const unit rows[] = { { HU_FP16, HU_FP32, HU_PROBE_F16, 16, HU_PROBE_W_F16, 16 },
		{ HU_FP16, HU_FP16, HU_PROBE_F16_F16, 16, -2, 0 },
		{ HU_BF16, HU_FP32, HU_PROBE_BF16, 16, HU_PROBE_W_BF16, 16 },
		{ HU_TF32, HU_FP32, HU_PROBE_TF32, 8, HU_PROBE_W_TF32, 8 },
		{ HU_E4M3, HU_FP32, -2, 0, HU_PROBE_W_E4M3, 32 }, { HU_E5M2, HU_FP32, -2, 0, HU_PROBE_W_E5M2, 32 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].in == in && rows[i].out == out)
			return &rows[i];
	return NULL;
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
	const unit *u = matrix ? unit_of(in, out) : NULL;
	int real = strcmp(backend, "shim");

	HU_TRY(find_side(backend, &side));
	/* The shim has the instructions of every architecture. */
	int groups = u && u->group >= 0 && (side->arch() < 0 || side->arch() == HU_TC_HOPPER);
	if (matrix && (!u || (u->kind < 0 && !groups)))
		return hu_fail(HU_EUNABLE, "no matrix instruction of %s with %s accumulators", hu_format_name(in),
			hu_format_name(out));
	HU_TRY(side->open(&queue));
	/* more blocks than any device runs at once; the shim interprets them, so it gets few */
	unsigned blocks = real ? 4096 : 1, rounds = real ? 64 : 1;
	double one = 0, other = 0;
	hu_status st = HU_OK;
	if (!u)
		st = rate(side, queue, HU_PROBE_FMA, blocks, rounds, 32 * 4, &one);
	else if (u->kind >= 0)
		st = rate(side, queue, u->kind, blocks, rounds, 16.0 * 8 * u->k, &one);
	if (st == HU_OK && groups) /* of a warpgroup's products a quarter is each warp's */
		st = rate(side, queue, u->group, blocks, rounds, 64.0 * 256 * u->deep / 4, &other);
	side->close(queue);
	*flops = one > other ? one : other;
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
