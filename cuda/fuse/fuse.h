/* SPDX-License-Identifier: Apache-2.0
   Fused passes: calls of one program that a single pass over memory computes, with every rounding
   that they name and every output that they have. fusions.def lists them; cuda/fuse/fuse_NAME.cu
   defines a pass; cuda/fuse/plan.c finds its calls. */
#ifndef HU_CUDA_FUSE_H
#define HU_CUDA_FUSE_H

#include "cuda/element/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a pass's calls belong together. HU_FUSE_CHAIN: each reads what the one before it wrote. HU_FUSE_TOGETHER: none
   reads what another wrote, and they differ in tensors alone. HU_FUSE_GRADIENTS: the parameters' gradients from the
   last cast to their norm. */
typedef enum hu_fuse_kind { HU_FUSE_CHAIN, HU_FUSE_TOGETHER, HU_FUSE_GRADIENTS } hu_fuse_kind;

typedef struct hu_fusion {
	const char *name, *pattern, *summary;
	hu_fuse_kind kind;
	/* Whether the pass computes these N calls (their tensors have no memory yet) with all their roundings. */
	int (*serves)(const hu_work *w, int n);
	/* Scratch is taken from w[0]. */
	hu_status (*launch)(hu_work *w, int n);
} hu_fusion;

#ifdef __cplusplus
}
#endif
#endif
