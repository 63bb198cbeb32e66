/* SPDX-License-Identifier: Apache-2.0
   Kernels that test the promises of launch.h: t/cuda/u-shim.c runs the correct ones on every side there is, and the
   wrong ones on the shim alone, which must catch them. */
#include "cuda/base/launch.h"
#include "cuda/fuse/side.h"
#include "cuda/gemm/bulk.h"

HU_KERNEL
write_index(uint32_t *out)
{
	size_t block = blockIdx.x + (size_t)gridDim.x * (blockIdx.y + (size_t)gridDim.y * blockIdx.z);
	size_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
	       all = blockDim.x * blockDim.y * blockDim.z;

	out[block * all + thread] +=
		(uint32_t)(1 + threadIdx.x + 100 * threadIdx.y + 1000 * threadIdx.z + 10000 * block);
}

/* Sums one block's 4096 elements by the fixed tree, by 32 warps whose sums are checked to meet in shared memory. */
HU_KERNEL
tree_blocks(float *out, const float *in, size_t n)
{
	HU_SHARED(float, lanes, 32);
	size_t first = (size_t)blockIdx.x * 4096;
	float x = 0;

	/* Warp 0 adds; all warps pass its lanes on in a ring, so that barriers matter. */
	if (threadIdx.x < 32) {
		for (size_t i = first + threadIdx.x; i < first + 4096 && i < n; i += 32)
			x = x + in[i];
		lanes[threadIdx.x] = x;
	}
	for (unsigned warp = 1; warp < blockDim.x / 32; warp++) {
		HU_SYNC();
		float y = lanes[(threadIdx.x + 1) % 32];
		HU_SYNC();
		if (threadIdx.x / 32 == warp)
			lanes[threadIdx.x % 32] = y;
	}
	HU_SYNC();
	if (threadIdx.x < 32) {
		x = lanes[(threadIdx.x + 32 - (blockDim.x / 32 - 1) % 32) % 32];
		for (unsigned by = 16; by; by /= 2)
			x = x + hu_shfl_down(x, by);
		if (threadIdx.x == 0)
			out[blockIdx.x] = x;
	}
}

HU_KERNEL
votes(uint32_t *out)
{
	unsigned lane = threadIdx.x % 32;
	uint32_t odd = hu_ballot((int)(lane & 1)), swapped = hu_shfl_xor(lane * 3, 5), third = hu_shfl(lane * 7, 3),
		 none = hu_ballot(0);
	uint64_t wide = hu_shfl_down((uint64_t)lane << 40, 1);

	hu_syncwarp();
	out[threadIdx.x] = odd == 0xaaaaaaaau && swapped == (lane ^ 5) * 3 && third == 21 && none == 0 &&
			   wide == (uint64_t)(lane < 31 ? lane + 1 : lane) << 40;
}

HU_KERNEL
atomics(uint32_t *out, uint64_t *wide)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	hu_atomic_add(&out[0], i);
	hu_atomic_max(&out[1], i * 5 % 1001);
	hu_atomic_or(&out[2], 1u << i % 32);
	hu_atomic_add(&wide[0], (uint64_t)i << 20);
	hu_atomic_max(&wide[1], (uint64_t)i << 33);
}

HU_KERNEL
dynamic(uint32_t *out)
{
	HU_SHARED_BYTES(bytes);
	HU_SHARED(uint32_t, other, 8);
	uint32_t *word = (uint32_t *)bytes;

	word[threadIdx.x] = threadIdx.x * threadIdx.x;
	if (threadIdx.x < 8)
		other[threadIdx.x] = 5;
	HU_SYNC();
	out[blockIdx.x * blockDim.x + threadIdx.x] = word[blockDim.x - 1 - threadIdx.x] + other[threadIdx.x % 8];
}

#ifndef __CUDACC__
HU_KERNEL
half_barrier(uint32_t *out)
{
	if (threadIdx.x < 32)
		HU_SYNC();
	out[threadIdx.x] = 1;
}

HU_KERNEL
two_barriers(uint32_t *out)
{
	if (threadIdx.x < 32)
		HU_SYNC();
	else
		HU_SYNC();
	out[threadIdx.x] = 1;
}

HU_KERNEL
some_lanes(uint32_t *out)
{
	if (threadIdx.x % 32 < 20)
		out[threadIdx.x] = hu_shfl_down(threadIdx.x, 1);
}

HU_KERNEL
overrun(uint32_t *out)
{
	HU_SHARED(uint32_t, short_array, 40);
	volatile uint32_t *p = short_array;

	p[threadIdx.x] = 1;
	out[threadIdx.x] = p[threadIdx.x];
}

/* Lacks a barrier between a neighbour's write and this thread's read. */
HU_KERNEL
race(uint32_t *out)
{
	HU_SHARED(uint32_t, a, 64);

	a[threadIdx.x] = 7;
	HU_SYNC();
	a[threadIdx.x] = threadIdx.x;
	out[threadIdx.x] = a[(threadIdx.x + 1) % 64];
}

HU_KERNEL
unset(uint32_t *out)
{
	HU_SHARED(float, a, 64);

	HU_SYNC();
	out[threadIdx.x] = a[threadIdx.x] != a[threadIdx.x];
}

HU_KERNEL
too_much(uint32_t *out)
{
	HU_SHARED(double, a, 4096);
	HU_SHARED(double, b, 4096);

	a[threadIdx.x] = b[threadIdx.x] = 0;
	out[threadIdx.x] = 1;
}

/* Reads what it copied before the wait; out is 0 wherever the copy had not arrived. */
HU_KERNEL
copy_read(uint32_t *out, const uint32_t *in)
{
	HU_SHARED_ALIGNED(uint32_t, a, 256, 16);
	hu_copies copies;

	hu_copy16(&copies, a + threadIdx.x * 4, in, 1);
	hu_copy_commit(&copies);
	HU_SYNC();
	out[threadIdx.x] = a[threadIdx.x * 4] != 0xffffffffu;
	hu_copy_wait<0>(&copies);
}

/* Waits for all copies but the last, which arrives in an array that is then used for something else. */
HU_KERNEL
copy_left(uint32_t *out, const uint32_t *in)
{
	HU_SHARED_ALIGNED(uint32_t, a, 256, 16);
	hu_copies copies;

	hu_copy_commit(&copies);
	hu_copy16(&copies, a + threadIdx.x * 4, in, 0);
	hu_copy_commit(&copies);
	hu_copy_wait<1>(&copies);
	a[threadIdx.x * 4] = 9;
	HU_SYNC();
	out[threadIdx.x] = a[(threadIdx.x + 1) % 64 * 4];
}

/* One thread copies 8 lines and 8 more; out says of each 16 bytes of the first whether they were there before their
   mbarrier completed, and whether afterwards they are right. */
HU_KERNEL
bulk_read(uint32_t *out, HU_PARAM hu_bulk_map map)
{
	HU_SHARED_BYTES(raw);
	HU_SHARED(hu_mbarrier, mbarrier, 2);
	unsigned char *to = raw + (1024 - (size_t)raw % 1024) % 1024;

	if (threadIdx.x == 0) {
		for (uint32_t i = 0; i < 2; i++) {
			hu_mbarrier_begin(&mbarrier[i], 1);
			hu_mbarrier_expect(&mbarrier[i], 1024);
			hu_bulk_copy(to + i * 1024, &map, &mbarrier[i], 0, 8 * i, 0);
		}
	}
	HU_SYNC();
	uint32_t line = threadIdx.x / 8, group = threadIdx.x % 8;
	const unsigned char *at = to + line * 128 + (group ^ line) * 16;
	uint32_t early = *(const uint32_t *)at != 0xffffffffu;
	hu_mbarrier_wait(&mbarrier[0], 0);
	out[threadIdx.x] = early | (uint32_t)(at[0] == threadIdx.x) << 1;
	hu_mbarrier_wait(&mbarrier[1], 0);
}

/* Waits for the first of two copies, and ends. */
HU_KERNEL
bulk_left(uint32_t *out, HU_PARAM hu_bulk_map map)
{
	HU_SHARED_BYTES(raw);
	HU_SHARED(hu_mbarrier, mbarrier, 2);
	unsigned char *to = raw + (1024 - (size_t)raw % 1024) % 1024;

	if (threadIdx.x == 0)
		for (uint32_t i = 0; i < 2; i++) {
			hu_mbarrier_begin(&mbarrier[i], 1);
			hu_mbarrier_expect(&mbarrier[i], 1024);
			hu_bulk_copy(to, &map, &mbarrier[i], 0, 0, 0);
			if (i == 0)
				hu_mbarrier_wait(&mbarrier[0], 0);
		}
	out[threadIdx.x] = 1;
}

/* An mbarrier for two arrivals, at which one thread arrives. */
HU_KERNEL
mbarrier_alone(uint32_t *out)
{
	HU_SHARED(hu_mbarrier, mbarrier, 1);

	if (threadIdx.x == 0) {
		hu_mbarrier_begin(mbarrier, 2);
		hu_mbarrier_arrive(mbarrier);
	}
	HU_SYNC();
	hu_mbarrier_wait(mbarrier, 0);
	out[threadIdx.x] = 1;
}

/* The first block of a pair arrives at the other's mbarrier, and the other does not wait for that. */
HU_KERNEL
mbarrier_ended(uint32_t *out)
{
	HU_SHARED(hu_mbarrier, mbarrier, 1);

	if (threadIdx.x == 0)
		hu_mbarrier_begin(mbarrier, 1);
	hu_pair_sync();
	if (hu_pair_rank() == 0 && threadIdx.x == 0) {
		hu_mbarrier_wait(mbarrier, 0);
		hu_mbarrier_arrive_at(mbarrier, 1);
	}
	if (hu_pair_rank() == 1 && threadIdx.x == 63)
		hu_mbarrier_arrive_at(mbarrier, 0);
	out[threadIdx.x] = 1;
}

static hu_status
of_bulk(int which, uint32_t *u, const void *in)
{
	hu_bulk_map map;

	HU_TRY(HU_SIDE(bulk_map)(&map, in, 1, 128, 12, 1, 0, 8));
	return which == HU_SELF_BULK_READ ? HU_LAUNCH(bulk_read, 1, 64, 3072, NULL, u, map)
					  : HU_LAUNCH(bulk_left, 1, 64, 3072, NULL, u, map);
}
#endif

extern "C" hu_status HU_SIDE(selftest)(int which, void *out, const void *in, size_t n);

extern "C" hu_status
HU_SIDE(selftest)(int which, void *out, const void *in, size_t n)
{
	uint32_t *u = (uint32_t *)out;

	switch (which) {
	case HU_SELF_INDEX: return HU_LAUNCH(write_index, dim3(3, 2, 2), dim3(5, 3, 2), 0, NULL, u);
	case HU_SELF_TREE:
		return HU_LAUNCH(
			tree_blocks, (unsigned)((n + 4095) / 4096), 128, 0, NULL, (float *)out, (const float *)in, n);
	case HU_SELF_VOTES: return HU_LAUNCH(votes, 1, 96, 0, NULL, u);
	case HU_SELF_ATOMICS: return HU_LAUNCH(atomics, 10, 100, 0, NULL, u, (uint64_t *)(u + 4));
	case HU_SELF_DYNAMIC: return HU_LAUNCH(dynamic, 3, 64, 256, NULL, u);
#ifndef __CUDACC__
	case HU_SELF_BARRIER: return HU_LAUNCH(half_barrier, 1, 64, 0, NULL, u);
	case HU_SELF_TWO_BARRIERS: return HU_LAUNCH(two_barriers, 1, 64, 0, NULL, u);
	case HU_SELF_LANES: return HU_LAUNCH(some_lanes, 1, 64, 0, NULL, u);
	case HU_SELF_OVERRUN: return HU_LAUNCH(overrun, 1, 64, 0, NULL, u);
	case HU_SELF_RACE: return HU_LAUNCH(race, 1, 64, 0, NULL, u);
	case HU_SELF_UNSET: return HU_LAUNCH(unset, 2, 64, 0, NULL, u);
	case HU_SELF_TOO_MUCH: return HU_LAUNCH(too_much, 1, 64, 0, NULL, u);
	case HU_SELF_COPY_READ: return HU_LAUNCH(copy_read, 1, 64, 0, NULL, u, (const uint32_t *)in);
	case HU_SELF_BULK_READ:
	case HU_SELF_BULK_LEFT: return of_bulk(which, u, in);
	case HU_SELF_MBARRIER: return HU_LAUNCH(mbarrier_alone, 1, 64, 0, NULL, u);
	case HU_SELF_MBARRIER_ENDED: return HU_LAUNCH_PAIRS(mbarrier_ended, 2, 64, 0, NULL, u);
	case HU_SELF_COPY_LEFT: return HU_LAUNCH(copy_left, 1, 64, 0, NULL, u, (const uint32_t *)in);
#endif
	default: return hu_fail(HU_EUNABLE, "there is no self-test %d", which);
	}
}
