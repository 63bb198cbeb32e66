/* SPDX-License-Identifier: Apache-2.0
   The ways in which a device computes matrix products, the rows of gemms.def. Every way but cublas gives the bits of
   the call's summation model; cublas stays within its error bound (cuda/cublas/cublas.h). */
#ifndef HU_PROGRAM_GEMM_H
#define HU_PROGRAM_GEMM_H

#include "lib/base/status.h"

typedef enum hu_gemm_way {
#define GEMM(id, name, summary) HU_GEMM_##id,
#include "lib/program/gemms.def"
#undef GEMM
	HU_GEMM_WAYS
} hu_gemm_way;

/* Returns 1 if every product has to be computed by our kernels on the matrix units. */
static inline int
hu_gemm_by_units(int way)
{
	return way == HU_GEMM_MMA || way == HU_GEMM_BULK;
}

/* Finds a way by name; NULL means auto. HU_EINVAL names the nearest and lists all. */
hu_status hu_gemm_find(const char *name, hu_gemm_way *way);
const char *hu_gemm_name(hu_gemm_way way);
/* Every way with its summary, for an option's help. */
extern const char hu_gemm_help[];
#endif
