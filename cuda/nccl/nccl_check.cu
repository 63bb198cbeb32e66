/* SPDX-License-Identifier: Apache-2.0
   Compares cuda/nccl/nccl.h with NVIDIA's header, if that is installed. It makes no code. */
#include "cuda/nccl/nccl.h"

#if defined(__CUDACC__) && defined(__has_include)
#if __has_include(<nccl.h>)
#include <nccl.h>
#define SAME(a, b) static_assert((int)(a) == (int)(b), #a)
SAME(NCCL_FLOAT16, ncclFloat16);
SAME(NCCL_FLOAT32, ncclFloat32);
SAME(NCCL_FLOAT64, ncclFloat64);
SAME(NCCL_BFLOAT16, ncclBfloat16);
SAME(NCCL_SUM, ncclSum);
SAME(sizeof(hu_nccl_id), sizeof(ncclUniqueId));
SAME(0, ncclSuccess);
#if NCCL_VERSION_CODE >= 21400
SAME(NCCL_IN_PROGRESS, ncclInProgress);
#endif
#undef SAME
#endif
#endif
