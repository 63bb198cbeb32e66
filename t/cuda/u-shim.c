/* SPDX-License-Identifier: Apache-2.0
   What kernels are written with (cuda/base/launch.h), on every side there is; and that the shim
   catches what it says it catches. */
#include "cuda/device/device.h"
#include "cuda/fuse/side.h"
#include "lib/base/hash.h"
#include "lib/base/status.h"
#include "lib/sum/tree.h"
#include "t/cuda/cuda-sides.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(HU_HAVE_SHIM) || defined(HU_HAVE_CUDA)
static void *
device(const hu_side *s, const void *from, size_t bytes)
{
	void *p, *q = NULL;

	if (s->open(&q) != HU_OK || s->alloc(&p, bytes) != HU_OK ||
		(from ? s->upload(q, p, from, bytes) : s->clear(q, p, bytes)) != HU_OK || s->wait(q) != HU_OK)
		bail_out("%s", hu_reason());
	if (q)
		s->close(q);
	return p;
}

static hu_status
run(const hu_side *s, int which, void *out, size_t out_bytes, const void *in, size_t n)
{
	void *o = device(s, NULL, out_bytes), *i = in ? device(s, in, n * 4) : NULL;
	hu_status st = s->selftest(which, o, i, n);

	if (st == HU_OK)
		st = s->wait(NULL);
	if (st == HU_OK)
		st = s->download(NULL, out, o, out_bytes);
	if (st == HU_OK)
		st = s->wait(NULL);
	s->release(o);
	s->release(i);
	return st;
}

static void
test_index(const hu_side *s)
{
	uint32_t u[12 * 30], wrong = 0;

	is_int(run(s, HU_SELF_INDEX, u, sizeof u, NULL, 0), HU_OK, "%s: a launch in three dimensions", s->name);
	for (uint32_t b = 0, i = 0; b < 12; b++)
		for (uint32_t z = 0; z < 2; z++)
			for (uint32_t y = 0; y < 3; y++)
				for (uint32_t x = 0; x < 5; x++, i++)
					wrong += u[i] != 1 + x + 100 * y + 1000 * z + 10000 * b;
	is_int(wrong, 0, "%s: every thread ran once and knew its place", s->name);
}

static void
test_tree(const hu_side *s)
{
	enum { N = 1 << 20, BLOCKS = N / 4096 };
	float *x = malloc(N * sizeof *x), sums[BLOCKS];
	hu_format f = hu_format_of(HU_FP32);
	int wrong = 0;
	clock_t start = clock();

	for (size_t i = 0; i < N; i++)
		x[i] = hu_from_bits32((uint32_t)(hu_mix64(i) >> 40) | 0x3f000000u) * (i % 3 ? 1.0f : -0x1p-9f);
	is_int(run(s, HU_SELF_TREE, sums, sizeof sums, x, N), HU_OK, "%s: %d elements through shuffles and barriers",
		s->name, N);
	diag("%s: %.1f ms of processor time", s->name, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
	for (size_t b = 0; b < BLOCKS; b++)
		wrong += hu_bits32(sums[b]) != hu_bits32(hu_tree_f32(x + b * 4096, 4096, 1, f));
	is_int(wrong, 0, "%s: the fixed tree's bits", s->name);
	free(x);
}

static void
test_small(const hu_side *s)
{
	uint32_t u[192], wrong = 0;
	uint64_t wide[4], sum = 0;

	is_int(run(s, HU_SELF_VOTES, u, 96 * 4, NULL, 0), HU_OK, "%s: shuffles and votes", s->name);
	for (int i = 0; i < 96; i++)
		wrong += u[i] != 1;
	is_int(wrong, 0, "%s: every lane saw what it should", s->name);
	is_int(run(s, HU_SELF_ATOMICS, wide, sizeof wide, NULL, 0), HU_OK, "%s: atomics", s->name);
	memcpy(u, wide, 16);
	for (uint64_t i = 0; i < 1000; i++)
		sum += i << 20;
	is_int(u[0], 999 * 500, "%s: sum", s->name);
	is_int(u[1], 1000, "%s: maximum", s->name);
	is_bits32(u[2], 0xffffffffu, "%s: or", s->name);
	ok(wide[2] == sum && wide[3] == (uint64_t)999 << 33, "%s: 64 bits wide", s->name);
	is_int(run(s, HU_SELF_DYNAMIC, u, sizeof u, NULL, 0), HU_OK, "%s: shared memory of the launch", s->name);
	wrong = 0;
	for (uint32_t i = 0; i < 192; i++)
		wrong += u[i] != (63 - i % 64) * (63 - i % 64) + 5;
	is_int(wrong, 0, "%s: and of the kernel, apart from each other", s->name);
}
#endif

#ifdef HU_HAVE_SHIM
static void
caught(int which, const char *what, const char *words)
{
	uint32_t u[256];
	static const uint32_t in[4] = { 1, 2, 3, 4 };
	hu_status st = run(&hu_shim_side, which, u, sizeof u, in, 4);

	ok(st == HU_EDEVICE && strstr(hu_reason(), words), "%s is caught: %s", what,
		st == HU_OK ? "it was not" : hu_reason());
}

/* The same for what shows in some orders of threads and copies. */
static void
some_caught(int which, const void *in, size_t bytes, const char *what, const char *words)
{
	uint32_t u[128];
	int found = 0;

	for (uint64_t seed = 1; seed <= 16; seed++) {
		hu_shim_seed(seed);
		found += run(&hu_shim_side, which, u, sizeof u, in, bytes / 4) == HU_EDEVICE &&
			 strstr(hu_reason(), words);
	}
	ok(found >= 4, "%s is caught in %d of 16 orders", what, found);
}

/* Copies in the background arrive as late as the rules allow, and as early. */
static void
test_copies(void)
{
	static const uint32_t in[4] = { 1, 2, 3, 4 };
	uint32_t u[64];
	int none = 0, some = 0;

	for (uint64_t seed = 1; seed <= 16; seed++) {
		unsigned there = 0;
		hu_shim_seed(seed);
		if (run(&hu_shim_side, HU_SELF_COPY_READ, u, sizeof u, in, 4) != HU_OK)
			bail_out("%s", hu_reason());
		for (int i = 0; i < 64; i++)
			there += u[i];
		none += there == 0;
		some += there > 16 && there < 64;
	}
	ok(none >= 4 && some >= 4 && none + some == 16,
		"copies that are read before their wait have arrived not at all in %d of 16 blocks, in part in %d",
		none, some);
	caught(HU_SELF_COPY_LEFT, "a copy that is never waited for",
		"a thread ends with 1 copies to shared memory that it never waited for");
}

/* So do bulk copies, which besides bring zeros from outside their matrix, here from its last 4 of 16 rows. */
static void
test_bulk(void)
{
	unsigned char in[12 * 128];
	uint32_t u[64];
	int none = 0, all = 0, wrong = 0;

	for (int i = 0; i < 12 * 128; i++)
		in[i] = (unsigned char)(i / 16);
	for (uint64_t seed = 1; seed <= 32; seed++) {
		unsigned there = 0;
		hu_shim_seed(seed);
		if (run(&hu_shim_side, HU_SELF_BULK_READ, u, sizeof u, in, sizeof in / 4) != HU_OK)
			bail_out("%s", hu_reason());
		for (int i = 0; i < 64; i++) {
			there += u[i] & 1;
			wrong += u[i] < 2;
		}
		none += there == 0;
		all += there == 64;
	}
	ok(none >= 8 && all >= 1,
		"bulk copies that are read before their mbarrier completes have arrived not at all in %d of 32 blocks, "
		"for all threads in %d", none, all);
	is_int(wrong, 0, "and behind the mbarrier every group of 16 bytes is where the swizzle puts it");
	some_caught(HU_SELF_BULK_LEFT, in, sizeof in, "a bulk copy that is never waited for",
		"a block ends while 1 bulk copies to it are under way");
	caught(HU_SELF_MBARRIER, "an mbarrier with too few arrivals", "a thread waits at an mbarrier (selftest.cu:");
	some_caught(HU_SELF_MBARRIER_ENDED, in, sizeof in, "an arrival at an mbarrier of a block that may have ended",
		"a thread arrives at an mbarrier of a block that has ended");
}

static void
test_faults(void)
{
	uint32_t u[128], first[64];
	int differ = 0, good = 0;

	caught(HU_SELF_BARRIER, "a barrier that half the block never reaches",
		"32 of 64 threads wait at a barrier (selftest.cu:");
	caught(HU_SELF_TWO_BARRIERS, "two barriers at once", "wait at different barriers: selftest.cu:");
	caught(HU_SELF_LANES, "a shuffle that some lanes skip",
		"20 of the 32 lanes of a warp wait at a shuffle down (selftest.cu:");
	caught(HU_SELF_TOO_MUCH, "more shared memory than a block has", "needs 65536 bytes in all");
#ifndef HU_ASAN
	caught(HU_SELF_OVERRUN, "writing past shared memory", "'short_array' was written past its end");
#else
	skip(1, "the address sanitizer would stop the program there");
#endif
	for (uint64_t seed = 1; seed <= 8; seed++) {
		hu_shim_seed(seed);
		if (run(&hu_shim_side, HU_SELF_RACE, u, 256, NULL, 0) != HU_OK)
			bail_out("%s", hu_reason());
		if (seed == 1)
			memcpy(first, u, 256);
		differ += memcmp(first, u, 256) != 0;
	}
	ok(differ > 0, "a missing barrier changes results from seed to seed (%d of 7)", differ);
	hu_shim_seed(1);
	run(&hu_shim_side, HU_SELF_RACE, u, 256, NULL, 0);
	ok(!memcmp(first, u, 256), "and the same seed gives the same again");
	is_int(run(&hu_shim_side, HU_SELF_UNSET, u, 512, NULL, 0), HU_OK, "unset shared memory");
	for (int i = 0; i < 64; i++)
		good += u[i] == 1;
	is_int(good, 64, "reads as NaN in every block");
	hu_shim_lose_after(1);
	ok(run(&hu_shim_side, HU_SELF_VOTES, u, 384, NULL, 0) == HU_OK &&
			run(&hu_shim_side, HU_SELF_VOTES, u, 384, NULL, 0) == HU_EDEVICE && strstr(hu_reason(), "lost"),
		"a lost device: %s", hu_reason());
	hu_shim_lose_after(-1);
	is_int(run(&hu_shim_side, HU_SELF_VOTES, u, 384, NULL, 0), HU_OK, "and back again, after faults");
	hu_shim_limit(1000);
	void *p = NULL;
	is_int(hu_shim_side.alloc(&p, 1001), HU_ENOMEM, "more memory than the device has: %s", hu_reason());
	hu_shim_limit(0);
	is_int((long long)hu_shim_allocated(), 0, "nothing was left allocated");
}
#endif

int
main(void)
{
#ifdef HU_HAVE_SHIM
	if (on_shim_too()) {
		test_index(&hu_shim_side);
		test_tree(&hu_shim_side);
		test_small(&hu_shim_side);
		test_faults();
		test_copies();
		test_bulk();
	} else {
		skip(1, "HALFULP_GPU_ONLY is set: the shim's part is left out");
	}
#else
	skip(1, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
#ifdef HU_HAVE_CUDA
	if (hu_device_count()) {
		test_index(&hu_gpu_side);
		test_tree(&hu_gpu_side);
		test_small(&hu_gpu_side);
	} else {
		skip(1, "cuda: %s", hu_device_why());
	}
#endif
	return done_testing();
}
