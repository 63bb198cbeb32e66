/* SPDX-License-Identifier: Apache-2.0
   Transposes a matrix of bytes through shared memory, 64 x 64 at a time, so that whole lines are read and written.
   Matrix units need it because they accept fp8 operands along k only. */
#include "cuda/gemm/gemm.cuh"

namespace {
enum { TURN = 64, TURN_LINE = TURN + 4, TURN_THREADS = 256 };
}

HU_KERNEL_OF(TURN_THREADS)
turn_kernel(const uint8_t *from, uint8_t *to, uint32_t k, uint32_t rows)
{
	HU_SHARED(uint8_t, tile, TURN * TURN_LINE);
	uint32_t across = (rows + TURN - 1) / TURN, k0 = blockIdx.x / across * TURN, row0 = blockIdx.x % across * TURN;

	HU_ONCE
	for (uint32_t i = threadIdx.x; i < TURN * TURN; i += TURN_THREADS) {
		uint32_t at = k0 + i / TURN, row = row0 + i % TURN;
		if (at < k && row < rows)
			tile[i / TURN * TURN_LINE + i % TURN] = from[(size_t)at * rows + row];
	}
	HU_SYNC();
	HU_ONCE
	for (uint32_t i = threadIdx.x; i < TURN * TURN / 4; i += TURN_THREADS) {
		uint32_t r = i / (TURN / 4), c = i % (TURN / 4) * 4;
		const uint8_t *x = tile + c * TURN_LINE + r;
		if (row0 + r < rows && k0 + c < k)
			*(uint32_t *)(to + (size_t)(row0 + r) * k + k0 + c) = x[0] | (uint32_t)x[TURN_LINE] << 8 |
									      (uint32_t)x[2 * TURN_LINE] << 16 |
									      (uint32_t)x[3 * TURN_LINE] << 24;
	}
}

extern "C" hu_status
HU_SIDE(gemm_turn)(hu_work *w, const void *from, void *to, uint32_t k, uint32_t rows)
{
	/* The grid has one dimension, because the others end at 65535 blocks, which a long k exceeds. */
	unsigned blocks = (unsigned)((((size_t)rows + TURN - 1) / TURN) * (((size_t)k + TURN - 1) / TURN));

	return HU_GO(w, turn_kernel, blocks, TURN_THREADS, 0, (const uint8_t *)from, (uint8_t *)to, k, rows);
}
