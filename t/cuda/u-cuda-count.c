/* SPDX-License-Identifier: Apache-2.0
   Counts made on the device are the CPU's to the count: rows of grads.tsv, exponents by bin, what a cast lost; for
   every format there is and values that lean towards its corners, under several orders of threads. */
#include "cuda/device/device.h"
#include "cuda/fuse/side.h"
#include "cuda/exec/transfer.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/op/tensor.h"
#include "t/cuda/cuda-sides.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES = 3 };
static const size_t sizes[SIZES] = { 1, 700, 9001 };

/* A value around the format's range: zeros, subnormals, ties, the largest, infinities and NaN where it has them. */
static double
value(hu_format f, uint64_t seed, size_t i)
{
	uint64_t u = (uint64_t)hu_random_word(seed, 7, 0, i) << 32 | hu_random_word(seed, 9, 0, i);
	int e = f.emin - f.p - 2 +
		(int)(u % (uint64_t)((f.emax < 200 ? f.emax : 200) - (f.emin > -200 ? f.emin : -200) + f.p + 6));
	double x = hu_uniform(hu_random_at(seed, 8, 0, i));

	switch (u >> 40 & 15) {
	case 0: return 0;
	case 1: return -0.0;
	case 2: return u >> 50 & 1 ? hu_inf(0) : -hu_inf(0);
	case 3: return hu_nan();
	case 4: return f.max;
	case 5: return (u >> 50 & 1 ? 1 : -1) * hu_smallest_normal(f) * (1 - x / 8);
	default: return (u >> 51 & 1 ? -1 : 1) * (1 + x) * hu_pow2(e < -300 ? -300 : e > 300 ? 300 : e);
	}
}

typedef struct sent { hu_slot slot; double *x; } sent;

/* N values rounded to format F, on the device and here. */
static sent
send(const hu_side *side, void *queue, hu_format_id id, uint64_t seed, size_t n)
{
	hu_format f = hu_format_of(id);
	hu_tensor t = { .format = id, .shape = hu_shape1(n), .n = n };
	sent s = { { NULL, id, hu_shape1(n), n }, hu_xmalloc(n * sizeof(double)) };
	size_t bytes = n * hu_slot_size(id);
	void *codes = hu_xmalloc(bytes);

	t.data = hu_alloc(n * hu_element_size(id));
	for (size_t i = 0; i < n; i++) {
		hu_put(&t, i, hu_round(value(f, seed, i), f, HU_RNE, 0, 0));
		s.x[i] = hu_get(&t, i);
	}
	hu_transfer_pack(codes, t.data, n, id);
	if (side->alloc(&s.slot.data, bytes) || side->upload(queue, s.slot.data, codes, bytes) || side->wait(queue))
		bail_out("%s", hu_reason());
	free(codes);
	free(t.data);
	return s;
}

static void
release(const hu_side *side, sent *s)
{
	side->release(s->slot.data);
	free(s->x);
}

/* BYTES of the device's, cleared by the caller's kernels or here. */
static void *
room(const hu_side *side, void *queue, size_t bytes)
{
	void *p;

	if (side->alloc(&p, bytes) || side->clear(queue, p, bytes))
		bail_out("%s", hu_reason());
	return p;
}

static int
same(const hu_side *side, void *queue, void *device, const void *want, size_t bytes)
{
	void *got = hu_xmalloc(bytes);

	if (side->download(queue, got, device, bytes) || side->wait(queue))
		bail_out("%s", hu_reason());
	int yes = !memcmp(got, want, bytes);
	side->release(device);
	free(got);
	return yes;
}

/* All tallies in one launch, of tensors of all formats. */
static int
test_tally(const hu_side *side, void *queue, uint64_t seed)
{
	enum { N = HU_FORMATS * SIZES };
	sent s[N];
	const hu_slot *t[N];
	hu_tally want[N];
	void *to = room(side, queue, sizeof want);

	memset(want, 0, sizeof want);
	for (int i = 0; i < N; i++) {
		s[i] = send(side, queue, (hu_format_id)(i / SIZES), seed + (uint64_t)i, sizes[i % SIZES]);
		t[i] = &s[i].slot;
		for (size_t k = 0; k < s[i].slot.n; k++)
			hu_tally_count(&want[i], s[i].x[k]);
	}
	if (side->look->tally(queue, t, N, to))
		bail_out("%s", hu_reason());
	int good = same(side, queue, to, want, sizeof want);
	for (int i = 0; i < N; i++)
		release(side, &s[i]);
	return good;
}

/* All in one call, of tensors of all formats, every other one with the wider values that it was cast from, of which
   every third is told apart by a factor. */
static int
test_census(const hu_side *side, void *queue, uint64_t seed, uint64_t *zeroed)
{
	enum { N = HU_FORMATS * SIZES };
	sent s[N], wide[N], by = send(side, queue, HU_FP32, seed, 1);
	const hu_slot *t[N], *before[N], *scale[N];
	hu_census *want = hu_xcalloc(N, sizeof *want);
	void *to = room(side, queue, N * sizeof *want);
	float half = 0.5f;

	if (side->upload(queue, by.slot.data, &half, sizeof half) || side->wait(queue))
		bail_out("%s", hu_reason());
	for (int i = 0; i < N; i++) {
		hu_format_id id = (hu_format_id)(i / SIZES);
		hu_format f = hu_format_of(id);
		size_t n = sizes[i % SIZES];
		s[i] = send(side, queue, id, seed + (uint64_t)i, n);
		wide[i] = send(side, queue, HU_FP64, seed + (uint64_t)i, n);
		t[i] = &s[i].slot;
		before[i] = i % 2 ? &wide[i].slot : NULL;
		scale[i] = i % 3 ? NULL : &by.slot;
		/* the wide tensor takes the values that the narrow one was rounded from */
		for (size_t k = 0; k < n; k++) {
			wide[i].x[k] = value(f, seed + (uint64_t)i, k) * (scale[i] ? 2 : 1);
			want[i].bins[hu_exponent_bin(s[i].x[k])]++;
			if (before[i])
				hu_underflow_count(&want[i].lost, wide[i].x[k] * (scale[i] ? 0.5 : 1), s[i].x[k], f);
		}
		if (side->upload(queue, wide[i].slot.data, wide[i].x, n * sizeof(double)) || side->wait(queue))
			bail_out("%s", hu_reason());
		*zeroed += want[i].lost.zeroed;
	}
	if (side->look->census(queue, t, before, scale, N, to))
		bail_out("%s", hu_reason());
	int good = same(side, queue, to, want, N * sizeof *want);
	for (int i = 0; i < N; i++) {
		release(side, &s[i]);
		release(side, &wide[i]);
	}
	release(side, &by);
	free(want);
	return good;
}

static void
test_side(const hu_side *side)
{
	void *queue;

	if (side->open(&queue))
		bail_out("%s", hu_reason());
	for (uint64_t seed = 1; seed <= 3; seed++) {
		hu_shim_seed(seed);
		ok(test_tally(side, queue, seed * 1000), "%s: %d tallies of %d formats (seed %d)", side->name,
			HU_FORMATS * SIZES, HU_FORMATS, (int)seed);
	}
	for (uint64_t seed = 1; seed <= 2; seed++) {
		uint64_t zeroed = 0;
		hu_shim_seed(seed);
		int good = test_census(side, queue, seed * 50, &zeroed);
		ok(good && zeroed > 1000,
			"%s: exponents by bin of %d tensors, and what casts lost, %llu elements (seed %d)", side->name,
			HU_FORMATS * SIZES, (unsigned long long)zeroed, (int)seed);
	}
	side->close(queue);
}

int
main(void)
{
	on_each_side(test_side, NULL);
	return done_testing();
}
