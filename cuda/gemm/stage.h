/* SPDX-License-Identifier: Apache-2.0
   Moves operands through shared memory: copies in the background (cp.async, sm_80 and later; plain copies before) and
   the matrix unit's loads (ldmatrix). On the host a copy arrives at a random time between its issue and the wait that
   guarantees it, in half of the blocks always at the wait, so that a missing wait, or a buffer refilled too early,
   shows; a thread that ends without waiting for its copies stops the launch. */
#ifndef HU_CUDA_STAGE_H
#define HU_CUDA_STAGE_H

#include "cuda/base/launch.h"

#ifdef HU_ANY_ARCH
#error "this header has code of its own for compute capabilities: add the file that includes it to CUDA_ALONE"
#endif

#ifdef __CUDACC__
/* A thread's pending copies. */
struct hu_copies {};

HU_DEVICE uint32_t hu_shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* Copies 16 bytes to to in shared memory, both addresses 16-byte aligned; writes zeros if inside is 0, and from is then
   not read. */
HU_DEVICE void
hu_copy16(hu_copies *, void *to, const void *from, int inside)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(hu_shared_address(to)),
		     "l"(__cvta_generic_to_global(from)), "r"(inside ? 16 : 0)
		     : "memory");
#else
	*(uint4 *)to = inside ? *(const uint4 *)from : make_uint4(0, 0, 0, 0);
#endif
}

/* The same for 4 bytes. */
HU_DEVICE void
hu_copy4(hu_copies *, void *to, const void *from, int inside)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(hu_shared_address(to)),
		     "l"(__cvta_generic_to_global(from)), "r"(inside ? 4 : 0)
		     : "memory");
#else
	*(uint32_t *)to = inside ? *(const uint32_t *)from : 0;
#endif
}

/* Ends a group of copies. */
HU_DEVICE void
hu_copy_commit(hu_copies *)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until all but the last N groups of this thread have arrived; a barrier tells the other threads. */
template <int N>
HU_DEVICE void
hu_copy_wait(hu_copies *)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

/* Loads four 8 x 8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8, 16 bytes, and
   gets in r[i] the elements 2(l % 4) and the next of row l / 4 of matrix i; if TURNED is 1, of column l / 4. Every lane
   calls it. */
template <int TURNED>
HU_DEVICE void
hu_ldmatrix(uint32_t *r, const void *row)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
	if (TURNED)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
			     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
			     : "r"(hu_shared_address(row))
			     : "memory");
	else
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
			     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
			     : "r"(hu_shared_address(row))
			     : "memory");
#else
	r[0] = r[1] = r[2] = r[3] = *(const uint32_t *)row;
#endif
}

#else
extern "C" {
/* shim_copy.cc: says whose copies are the running thread's, and that no more will come. */
void hu_shim_copies_begin(struct hu_copies *c);
void hu_shim_copies_end(struct hu_copies *c);
}

struct hu_copies {
	struct { unsigned char *to; const unsigned char *from; unsigned bytes, group; int inside; } under_way[128];
	unsigned n, group;
	hu_copies() : n(0), group(0) { hu_shim_copies_begin(this); }
	~hu_copies() { hu_shim_copies_end(this); }
};

extern "C" {
/* Decides at random when a pending copy arrives. */
int hu_shim_coin(void);
void hu_shim_copy(hu_copies *c, void *to, const void *from, unsigned bytes, int inside);
void hu_shim_copy_wait(hu_copies *c, unsigned groups);
/* shim_mma.cc */
void hu_shim_ldmatrix(uint32_t *r, const void *row, int turned, const char *file, int line);
}

HU_DEVICE void
hu_copy16(hu_copies *c, void *to, const void *from, int inside)
{
	hu_shim_copy(c, to, from, 16, inside);
}
HU_DEVICE void hu_copy4(hu_copies *c, void *to, const void *from, int inside) { hu_shim_copy(c, to, from, 4, inside); }
HU_DEVICE void hu_copy_commit(hu_copies *c) { c->group++; }
template <int N> HU_DEVICE void hu_copy_wait(hu_copies *c) { hu_shim_copy_wait(c, N); }
template <int TURNED>
HU_DEVICE void
hu_ldmatrix(uint32_t *r, const void *row, HU_SHIM_AT)
{
	hu_shim_ldmatrix(r, row, TURNED, file, line);
}
#endif
#endif
