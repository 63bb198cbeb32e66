/* SPDX-License-Identifier: Apache-2.0
   Bulk copies to shared memory, which one thread starts for a whole box of a matrix (PTX cp.async.bulk.tensor, sm_90),
   and mbarriers: barriers in shared memory that count arrivals and the bytes that copies bring. On the host a copy
   arrives at a random time between its start and the moment when nobody could go on without it, in half of the
   blocks always then, so that a missing wait, or a buffer refilled too early, shows. */
#ifndef HU_CUDA_BULK_H
#define HU_CUDA_BULK_H

#include "cuda/gemm/bulk_map.h"
#include "cuda/gemm/wgmma.h"

/* An mbarrier's phases are numbered from 0. Phase p ends when all its arrivals are there, and all bytes that were
   announced in it. hu_mbarrier_wait waits until the latest phase whose number has this parity is over; at first there
   is none of parity 1, which counts as over. On a device a kernel that waits for 2^24 tries, each of microseconds,
   ends with a trap, because its mbarrier will never complete. */
#ifdef __CUDACC__
typedef uint64_t hu_mbarrier;

/* For one thread, before hu_mbarriers_publish and a barrier. */
HU_DEVICE void
hu_mbarrier_begin(hu_mbarrier *mbarrier, uint32_t arrivals)
{
	(void)mbarrier, (void)arrivals;
#if HU_WGMMA_HERE
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(hu_shared_address(mbarrier)), "r"(arrivals)
		     : "memory");
#endif
}
HU_DEVICE void hu_mbarriers_publish(void) { HU_WGMMA_ASM("fence.mbarrier_init.release.cluster;"); }

HU_DEVICE void
hu_mbarrier_arrive(hu_mbarrier *mbarrier)
{
	(void)mbarrier;
#if HU_WGMMA_HERE
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(hu_shared_address(mbarrier)) : "memory");
#endif
}

/* Arrives, and announces bytes of copies. */
HU_DEVICE void
hu_mbarrier_expect(hu_mbarrier *mbarrier, uint32_t bytes)
{
	(void)mbarrier, (void)bytes;
#if HU_WGMMA_HERE
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
		     ::"r"(hu_shared_address(mbarrier)), "r"(bytes)
		     : "memory");
#endif
}

HU_DEVICE void
hu_mbarrier_wait(hu_mbarrier *mbarrier, uint32_t parity)
{
	(void)mbarrier, (void)parity;
#if HU_WGMMA_HERE
	uint32_t over = 0;
	HU_ONCE
	for (uint32_t tries = 0; !over; tries++) {
		asm volatile("{\n\t.reg .pred p;\n"
			     "\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
			     "\tselp.u32 %0, 1, 0, p;\n\t}"
			     : "=r"(over)
			     : "r"(hu_shared_address(mbarrier)), "r"(parity)
			     : "memory");
		if (tries == 1u << 24)
			__trap();
	}
#endif
}

/* Reads the map before the first copy needs it. */
HU_DEVICE void
hu_bulk_prefetch(const hu_bulk_map *map)
{
	(void)map;
#if HU_WGMMA_HERE
	asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

/* Copies the box of matrix z whose first element is in this column and row to to, a multiple of 1024, in rows of
   HU_BULK_LINE bytes with their groups of 16 bytes permuted as wgmma.h says; its bytes count at the mbarrier. */
HU_DEVICE void
hu_bulk_copy(void *to, const hu_bulk_map *map, hu_mbarrier *mbarrier, uint32_t column, uint32_t row, uint32_t z)
{
	(void)to, (void)map, (void)mbarrier, (void)column, (void)row, (void)z;
#if HU_WGMMA_HERE
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
		     "%4, %5}], [%2];" ::"r"(hu_shared_address(to)), "l"(map), "r"(hu_shared_address(mbarrier)),
		     "r"(column), "r"(row), "r"(z)
		     : "memory");
#endif
}

/* For pairs of blocks (HU_LAUNCH_PAIRS): which of the two this block is; a barrier of both, which every thread of both
   calls. */
HU_DEVICE uint32_t hu_pair_rank(void) { return blockIdx.x % 2; }
HU_DEVICE void
hu_pair_sync(void)
{
	hu_syncwarp();
	HU_WGMMA_ASM("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;");
}

/* Arrives at the mbarrier that lies at the same place in the pair's block of this rank. */
HU_DEVICE void
hu_mbarrier_arrive_at(hu_mbarrier *mbarrier, uint32_t rank)
{
	(void)mbarrier, (void)rank;
#if HU_WGMMA_HERE
	asm volatile("{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n"
		     "\tmbarrier.arrive.shared::cluster.b64 _, [there];\n\t}" ::"r"(hu_shared_address(mbarrier)),
		     "r"(rank)
		     : "memory");
#endif
}

/* As hu_bulk_copy, to the same place in both blocks, with the bytes counting at the mbarrier of each. */
HU_DEVICE void
hu_bulk_copy_both(void *to, const hu_bulk_map *map, hu_mbarrier *mbarrier, uint32_t column, uint32_t row, uint32_t z)
{
	(void)to, (void)map, (void)mbarrier, (void)column, (void)row, (void)z;
#if HU_WGMMA_HERE
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
		     ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(hu_shared_address(to)), "l"(map),
		     "r"(hu_shared_address(mbarrier)), "r"(column), "r"(row), "r"(z), "h"((uint16_t)3)
		     : "memory");
#endif
}

/* Gives back all but N of a thread's registers, or takes N; every warp of the warpgroup calls it. */
template <int N>
HU_DEVICE void
hu_registers_give(void)
{
#if HU_WGMMA_HERE
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
#endif
}
template <int N>
HU_DEVICE void
hu_registers_take(void)
{
#if HU_WGMMA_HERE
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

#else
struct hu_mbarrier { int32_t bytes; uint16_t left; uint8_t arrivals, phase; };

/* shim_bulk.cc */
extern "C" {
void hu_shim_mbarrier_begin(hu_mbarrier *mbarrier, uint32_t arrivals);
void hu_shim_mbarrier_arrive(hu_mbarrier *mbarrier, uint32_t bytes);
void hu_shim_mbarrier_wait(hu_mbarrier *mbarrier, uint32_t parity, const char *file, int line);
void hu_shim_bulk_copy(
	void *to, const hu_bulk_map *map, hu_mbarrier *mbarrier, uint32_t column, uint32_t row, uint32_t z, int both);
void hu_shim_mbarrier_arrive_at(hu_mbarrier *mbarrier, uint32_t rank);
}

HU_DEVICE void
hu_mbarrier_begin(hu_mbarrier *mbarrier, uint32_t arrivals)
{
	hu_shim_mbarrier_begin(mbarrier, arrivals);
}
HU_DEVICE void hu_mbarriers_publish(void) {}
HU_DEVICE void hu_mbarrier_arrive(hu_mbarrier *mbarrier) { hu_shim_mbarrier_arrive(mbarrier, 0); }
HU_DEVICE void hu_mbarrier_expect(hu_mbarrier *mbarrier, uint32_t bytes) { hu_shim_mbarrier_arrive(mbarrier, bytes); }
HU_DEVICE void
hu_mbarrier_wait(hu_mbarrier *mbarrier, uint32_t parity, HU_SHIM_AT)
{
	hu_shim_mbarrier_wait(mbarrier, parity, file, line);
}
HU_DEVICE void
hu_bulk_copy(void *to, const hu_bulk_map *map, hu_mbarrier *mbarrier, uint32_t column, uint32_t row, uint32_t z)
{
	hu_shim_bulk_copy(to, map, mbarrier, column, row, z, 0);
}
HU_DEVICE void hu_bulk_prefetch(const hu_bulk_map *) {}
HU_DEVICE uint32_t hu_pair_rank(void) { return blockIdx.x % 2; }
HU_DEVICE void hu_pair_sync(HU_SHIM_AT) { hu_shim_barrier(file, line, 1); }
HU_DEVICE void
hu_mbarrier_arrive_at(hu_mbarrier *mbarrier, uint32_t rank)
{
	hu_shim_mbarrier_arrive_at(mbarrier, rank);
}
HU_DEVICE void
hu_bulk_copy_both(void *to, const hu_bulk_map *map, hu_mbarrier *mbarrier, uint32_t column, uint32_t row, uint32_t z)
{
	hu_shim_bulk_copy(to, map, mbarrier, column, row, z, 1);
}
template <int N> HU_DEVICE void hu_registers_give(void) {}
template <int N> HU_DEVICE void hu_registers_take(void) {}
#endif
#endif
