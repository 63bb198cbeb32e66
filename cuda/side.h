/* SPDX-License-Identifier: Apache-2.0
   What the kernels' two sides offer to the executor (machine.c): the GPU through the CUDA
   runtime, and the same kernels on the host through the launch shim, for tests and for
   machines without a GPU. Everything on a queue happens in order; what a caller does not
   wait for may still be under way. */
#ifndef HU_CUDA_SIDE_H
#define HU_CUDA_SIDE_H

#include "cuda/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hu_side {
	const char *name, *summary;
	/* HU_EDEVICE says why there is no device. One queue a machine. */
	hu_status (*open)(void **queue);
	void (*close)(void *queue);
	/* Device memory, unset; HU_ENOMEM where BYTES do not fit. NULL may be released. */
	hu_status (*alloc)(void **p, size_t bytes);
	void (*release)(void *p);
	/* Host memory that transfers run fastest from. */
	hu_status (*host_alloc)(void **p, size_t bytes);
	void (*host_release)(void *p);
	hu_status (*clear)(void *queue, void *p, size_t bytes);
	hu_status (*upload)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*download)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*copy)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*wait)(void *queue);
	hu_status (*memory)(size_t *left, size_t *total);
	/* The matrix units' architecture (hu_tc_arch; HU_TC_ARCHS: none that is known); -1: any, by its model. */
	int (*arch)(void);
	const hu_kernel *kernels;   /* ends with a row without a name */
	/* Adds the digest terms of N elements to *SUM. */
	hu_status (*digest)(void *queue, const hu_slot *t, uint64_t name_hash, uint64_t *sum);
	/* Test WHICH of selftest.cu, on device memory. */
	hu_status (*selftest)(int which, void *out, const void *in, size_t n);
} hu_side;

/* Present where configure found what they need (HU_HAVE_CUDA, HU_HAVE_SHIM). */
extern const hu_side hu_gpu_side, hu_shim_side;

/* Of the shim alone, for tests. The order of threads and blocks from here on. */
void hu_shim_seed(uint64_t seed);
/* The device is lost at launch N from now (0: the next) and stays so; -1: it is there again. */
void hu_shim_lose_after(long n);
/* The device has BYTES of memory, of which what is allocated counts; 0: no limit. */
void hu_shim_limit(size_t bytes);
/* Bytes allocated now: 0 where everything was released. */
size_t hu_shim_allocated(void);

/* What selftest.cu has; from SELF_FAULTS on, kernels that are wrong and must be caught. */
enum {
	HU_SELF_INDEX, HU_SELF_TREE, HU_SELF_VOTES, HU_SELF_ATOMICS, HU_SELF_DYNAMIC, HU_SELF_FAULTS,
	HU_SELF_BARRIER = HU_SELF_FAULTS, HU_SELF_TWO_BARRIERS, HU_SELF_LANES, HU_SELF_OVERRUN, HU_SELF_RACE, HU_SELF_UNSET, HU_SELF_TOO_MUCH
};

#ifdef __cplusplus
}
#endif
#endif
