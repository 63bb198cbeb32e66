/* SPDX-License-Identifier: Apache-2.0
   Fused passes: several calls of a program computed in a single pass over memory, with every rounding and every output
   that they have. fusions.def lists the passes, cuda/fuse/fuse_NAME.cu defines each, and cuda/fuse/plan.c finds their
   calls. */
#ifndef HU_CUDA_FUSE_H
#define HU_CUDA_FUSE_H

#include "cuda/element/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the calls of a pass are related. HU_FUSE_CHAIN: each reads what the one before it wrote. HU_FUSE_TOGETHER: none
   reads what another wrote, and they differ in their tensors alone. HU_FUSE_CASTS and HU_FUSE_UPDATES are the same,
   of casts and of updates, which may make the next step's casts besides. HU_FUSE_GRADIENTS: everything done to the
   parameters' gradients from the last cast to their norm. */
typedef enum hu_fuse_kind {
	HU_FUSE_CHAIN,
	HU_FUSE_TOGETHER,
	HU_FUSE_CASTS,
	HU_FUSE_UPDATES,
	HU_FUSE_GRADIENTS
} hu_fuse_kind;

typedef struct hu_fusion {
	const char *name, *pattern, *summary;
	hu_fuse_kind kind;
	/* Returns 1 if the pass can compute these n calls, with all their roundings. Their tensors have no memory
	   yet. */
	int (*serves)(const hu_work *w, int n);
	/* Computes the calls. Scratch space is taken from w[0]. */
	hu_status (*launch)(hu_work *w, int n);
} hu_fusion;

static inline int
hu_fuses_together(const hu_fusion *f)
{
	return f->kind == HU_FUSE_TOGETHER || f->kind == HU_FUSE_CASTS || f->kind == HU_FUSE_UPDATES;
}

#ifdef __cplusplus
}
#endif
#endif
