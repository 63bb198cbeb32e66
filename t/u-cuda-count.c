/* SPDX-License-Identifier: Apache-2.0
   Counts made on the device are the CPU's to the count: rows of grads.tsv, exponents by bin, what a cast lost; for every format
   there is and values that lean towards its corners, under several orders of threads. */
#include "cuda/device.h"
#include "cuda/side.h"
#include "cuda/transfer.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/op/tensor.h"
#include "t/cuda-sides.h"
#include "t/tap.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES = 3 };
static const size_t sizes[SIZES] = { 1, 700, 9001 };

/* A value around the format's range: zeros, subnormals, ties, the largest, infinities and NaN where it has them. */
static double
value(hu_format f, uint64_t seed, size_t i)
{
	uint64_t u = (uint64_t)hu_random_word(seed, 7, 0, i) << 32 | hu_random_word(seed, 9, 0, i);
	int e = f.emin - f.p - 2 + (int)(u % (uint64_t)((f.emax < 200 ? f.emax : 200) - (f.emin > -200 ? f.emin : -200) + f.p + 6));
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

static int
test_exponents(const hu_side *side, void *queue, hu_format_id id, uint64_t seed, size_t n)
{
	uint64_t want[HU_BINS] = { 0 };
	sent s = send(side, queue, id, seed, n);
	void *to = room(side, queue, sizeof want);

	for (size_t k = 0; k < n; k++)
		want[hu_exponent_bin(s.x[k])]++;
	if (side->look->exponents(queue, &s.slot, to))
		bail_out("%s", hu_reason());
	int good = same(side, queue, to, want, sizeof want); /* waits */
	release(side, &s);
	return good;
}

/* The cast of wider values, which are those of the format's own corners. */
static int
test_underflow(const hu_side *side, void *queue, hu_format_id id, uint64_t seed, size_t n)
{
	hu_underflow want;
	sent after = send(side, queue, id, seed, n), before = send(side, queue, HU_FP64, seed, n);
	void *to = room(side, queue, sizeof want);

	memset(&want, 0, sizeof want);
	/* the wide tensor takes the values that the narrow one was rounded from */
	for (size_t k = 0; k < n; k++)
		before.x[k] = value(hu_format_of(id), seed, k);
	if (side->upload(queue, before.slot.data, before.x, n * sizeof(double)) || side->wait(queue))
		bail_out("%s", hu_reason());
	for (size_t k = 0; k < n; k++)
		hu_underflow_count(&want, before.x[k], after.x[k], hu_format_of(id));
	if (side->look->underflow(queue, &before.slot, &after.slot, to))
		bail_out("%s", hu_reason());
	int good = same(side, queue, to, &want, sizeof want);
	release(side, &after);
	release(side, &before);
	return good && (n < 700 || want.nonzeros > 0);
}

static void
test_side(const hu_side *side)
{
	void *queue;
	int bins = 0, lost = 0, all = 0;

	if (side->open(&queue))
		bail_out("%s", hu_reason());
	for (uint64_t seed = 1; seed <= 3; seed++) {
		hu_shim_seed(seed);
		ok(test_tally(side, queue, seed * 1000), "%s: %d tallies of %d formats (seed %d)", side->name, HU_FORMATS * SIZES, HU_FORMATS, (int)seed);
	}
	for (int f = 0; f < HU_FORMATS; f++)
		for (int k = 0; k < SIZES; k++, all++) {
			bins += test_exponents(side, queue, (hu_format_id)f, (uint64_t)f + 50, sizes[k]);
			lost += test_underflow(side, queue, (hu_format_id)f, (uint64_t)f + 90, sizes[k]);
		}
	ok(bins == all, "%s: exponents by bin, %d of %d tensors", side->name, bins, all);
	ok(lost == all, "%s: underflow of casts, %d of %d", side->name, lost, all);
	side->close(queue);
}

int
main(void)
{
	on_each_side(test_side, NULL);
	return done_testing();
}
