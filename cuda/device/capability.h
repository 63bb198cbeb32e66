/* SPDX-License-Identifier: Apache-2.0
   What each compute capability provides, from the one table that every part of the program reads. */
#ifndef HU_CUDA_CAPABILITY_H
#define HU_CUDA_CAPABILITY_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hu_kernels { HU_KERNELS_NONE, HU_KERNELS_SIMT, HU_KERNELS_ALL } hu_kernels;

typedef struct hu_capability { int from, fp16, bf16; hu_kernels kernels; const char *matrix; } hu_capability;

/* The row for a capability times ten; the row of 0, which has nothing, stands for a processor without a GPU. */
const hu_capability *hu_capability_of(int capability);
/* The first capability with at least these kernels. */
int hu_capability_first(hu_kernels kernels);

#ifdef __cplusplus
}
#endif
#endif
