/* SPDX-License-Identifier: Apache-2.0
   Positions 0 to n - 1 sorted by keys below a limit, equal keys in the order of their positions: a radix sort by digits
   of 8 bits, whose result does not depend on who runs first. A warp counts the digits of a segment of keys, one block
   adds the counts up, and a warp then moves each segment's keys to where their digit's begin. */
#ifndef HU_CUDA_SORT_CUH
#define HU_CUDA_SORT_CUH

#include "cuda/element/map.cuh"

enum { HU_SORT_BITS = 8, HU_SORT_BINS = 1 << HU_SORT_BITS };
/* The keys of a segment. The host has small ones, so that tests meet several. */
#ifdef __CUDACC__
enum { HU_SORT_SEGMENT = 1024 };
#else
enum { HU_SORT_SEGMENT = 40 };
#endif

HU_DEVICE uint32_t hu_sort_digit(uint32_t key, uint32_t shift) { return key >> shift & (HU_SORT_BINS - 1); }

/* count[d * segments + s] becomes the number of segment s's keys whose digit is d. */
HU_KERNEL
hu_sort_count_kernel(const uint32_t *key, uint32_t n, uint32_t shift, uint32_t *count)
{
	HU_SHARED(uint32_t, bin, HU_SORT_BINS);
	uint32_t first = blockIdx.x * HU_SORT_SEGMENT, last = n - first < HU_SORT_SEGMENT ? n : first + HU_SORT_SEGMENT;

	for (uint32_t d = threadIdx.x; d < HU_SORT_BINS; d += 32)
		bin[d] = 0;
	hu_syncwarp();
	for (uint32_t i = first + threadIdx.x; i < last; i += 32)
		hu_atomic_add(&bin[hu_sort_digit(key[i], shift)], 1u);
	hu_syncwarp();
	for (uint32_t d = threadIdx.x; d < HU_SORT_BINS; d += 32)
		count[d * gridDim.x + blockIdx.x] = bin[d];
}

/* One block of 256 threads: each of n counts becomes the sum of those before it. */
HU_KERNEL
hu_sort_scan_kernel(uint32_t *count, uint32_t n)
{
	HU_SHARED(uint32_t, sum, 2 * 256);
	uint32_t each = (n + 255) / 256, first = threadIdx.x * each, last = first + each < n ? first + each : n,
		 mine = 0, from = 0;

	for (uint32_t i = first; i < last; i++)
		mine += count[i];
	sum[threadIdx.x] = mine;
	HU_SYNC();
	for (uint32_t by = 1; by < 256; by *= 2) {
		uint32_t s = sum[from + threadIdx.x] + (threadIdx.x >= by ? sum[from + threadIdx.x - by] : 0);
		from = 256 - from;
		sum[from + threadIdx.x] = s;
		HU_SYNC();
	}
	mine = sum[from + threadIdx.x] - mine;
	for (uint32_t i = first; i < last; i++) {
		uint32_t c = count[i];
		count[i] = mine;
		mine += c;
	}
}

typedef struct hu_sorted { uint32_t *key, *position; } hu_sorted;

/* Moves each segment's keys, and their positions, behind start[d * segments + s] of their digit d. */
HU_KERNEL
hu_sort_move_kernel(hu_sorted from, hu_sorted to, uint32_t n, uint32_t shift, const uint32_t *start)
{
	HU_SHARED(uint32_t, next, HU_SORT_BINS);
	uint32_t first = blockIdx.x * HU_SORT_SEGMENT, last = n - first < HU_SORT_SEGMENT ? n : first + HU_SORT_SEGMENT;

	for (uint32_t d = threadIdx.x; d < HU_SORT_BINS; d += 32)
		next[d] = start[d * gridDim.x + blockIdx.x];
	hu_syncwarp();
	for (uint32_t i = first; i < last; i += 32) {
		uint32_t mine = i + threadIdx.x, there = mine < last, key = there ? from.key[mine] : 0,
			 digit = hu_sort_digit(key, shift);
		uint32_t alike = hu_ballot((int)there); /* the lanes with this digit */
		for (uint32_t b = 0; b < HU_SORT_BITS; b++) {
			uint32_t set = hu_ballot((int)(digit >> b & 1));
			alike &= digit >> b & 1 ? set : ~set;
		}
		uint32_t before = hu_bits_set(alike & ((1u << threadIdx.x) - 1)), at = next[digit] + before;
		hu_syncwarp();
		if (there) {
			to.key[at] = key;
			to.position[at] = from.position[mine];
			if (before + 1 == hu_bits_set(alike))
				next[digit] = at + 1;
		}
		hu_syncwarp();
	}
}

/* first[k] becomes the number of keys below k, for k from 0 to limit, with one thread for each. */
HU_KERNEL
hu_sort_first_kernel(const uint32_t *key, uint32_t n, uint32_t limit, uint32_t *first)
{
	HU_ONCE
	for (uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k <= limit; k += gridDim.x * blockDim.x) {
		uint32_t low = 0, high = n;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (key[middle] < k)
				low = middle + 1;
			else
				high = middle;
		}
		first[k] = low;
	}
}

static inline hu_sorted
hu_sorted_take(hu_work *w, size_t n)
{
	hu_sorted s = { (uint32_t *)hu_work_take(w, n * sizeof(uint32_t)),
		(uint32_t *)hu_work_take(w, n * sizeof(uint32_t)) };

	return s;
}

/* On the host: sorts n keys below limit and their positions, from s to s, which may become other memory; *first gets
   limit + 1 numbers, as hu_sort_first_kernel has them. */
static inline hu_status
hu_sort(hu_work *w, hu_sorted *s, size_t n, size_t limit, uint32_t **first)
{
	uint32_t segments = hu_blocks_for(n, HU_SORT_SEGMENT, 0x7fffffff / HU_SORT_BINS);
	hu_sorted other = hu_sorted_take(w, n);
	uint32_t *count = (uint32_t *)hu_work_take(w, (size_t)segments * HU_SORT_BINS * sizeof *count);

	*first = (uint32_t *)hu_work_take(w, (limit + 1) * sizeof **first);
	for (uint32_t shift = 0; limit > 1 && (limit - 1) >> shift; shift += HU_SORT_BITS) {
		hu_sorted from = *s;
		HU_TRY(HU_GO(w, hu_sort_count_kernel, segments, 32, 0, (const uint32_t *)from.key, (uint32_t)n, shift,
			count));
		HU_TRY(HU_GO(w, hu_sort_scan_kernel, 1, 256, 0, count, segments * HU_SORT_BINS));
		HU_TRY(HU_GO(w, hu_sort_move_kernel, segments, 32, 0, from, other, (uint32_t)n, shift,
			(const uint32_t *)count));
		*s = other;
		other = from;
	}
	return HU_GO(w, hu_sort_first_kernel, hu_blocks_for(limit + 1, 256, 65535), 256, 0, (const uint32_t *)s->key,
		(uint32_t)n, (uint32_t)limit, *first);
}
#endif
