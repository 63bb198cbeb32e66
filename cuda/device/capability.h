/* SPDX-License-Identifier: Apache-2.0
   What a compute capability gives, from the one table that all who speak of it read. */
#ifndef HU_CUDA_CAPABILITY_H
#define HU_CUDA_CAPABILITY_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hu_kernels { HU_KERNELS_NONE, HU_KERNELS_SIMT, HU_KERNELS_ALL } hu_kernels;

typedef struct hu_capability { int from, fp16, bf16; hu_kernels kernels; const char *matrix; } hu_capability;

/* The row of a capability times ten; that of 0, which has nothing, for a processor. */
const hu_capability *hu_capability_of(int capability);
/* The first capability with at least these kernels. */
int hu_capability_first(hu_kernels kernels);

#ifdef __cplusplus
}
#endif
#endif
