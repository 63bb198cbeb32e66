/* SPDX-License-Identifier: Apache-2.0
   How a device computes products: the rows of gemms.def. Every way but cublas promises
   the bits of the call's summation model; cublas promises its bound (cuda/gemm/cublas.h). */
#ifndef HU_PROGRAM_GEMM_H
#define HU_PROGRAM_GEMM_H

#include "lib/base/status.h"

typedef enum hu_gemm_way {
#define GEMM(id, name, summary) HU_GEMM_##id,
#include "lib/program/gemms.def"
#undef GEMM
	HU_GEMM_WAYS
} hu_gemm_way;

/* NAME, or NULL for auto. HU_EINVAL names the nearest and all. */
hu_status hu_gemm_find(const char *name, hu_gemm_way *way);
const char *hu_gemm_name(hu_gemm_way way);
/* Every way with its summary, for an option's help. */
extern const char hu_gemm_help[];
#endif
