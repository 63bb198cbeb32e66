/* SPDX-License-Identifier: Apache-2.0
   A call as the kernels see it: its tensors in device memory, in their formats' own codes. An operator's file defines
   hu_status HU_SIDE(op_NAME)(hu_work *), which launches the kernels that compute the call's outputs, and kernels.def
   lists it. Nothing here waits for the device. */
#ifndef HU_CUDA_KERNEL_H
#define HU_CUDA_KERNEL_H

#ifdef __cplusplus
extern "C" {
#endif
#include "lib/base/status.h"
#include "lib/number/count.h"
#include "lib/op/call.h"

/* A tensor on the device. An element takes hu_slot_size bytes: its code in 1 or 2 bytes if kernels have a fast
   conversion for it (cuda/element/code.h), else a float that holds the value, or a double for fp64. */
typedef struct hu_slot { void *data; hu_format_id format; hu_shape shape; size_t n; } hu_slot;

size_t hu_slot_size(hu_format_id f);

/* Kernels use 32-bit indices. */
#define HU_MOST_ELEMENTS ((size_t)1 << 31)

/* What changes from step to step, and what kernels report, in device memory. */
typedef struct hu_pulse { uint64_t seed; uint32_t step, fault; uint64_t digest; } hu_pulse;

/* The values of fault other than 0: what a kernel met that the CPU's operator refuses. */
enum { HU_FAULT_LABEL = 1, HU_FAULT_BINARY, HU_FAULT_INDEX };

enum { HU_RAN = 192 };

typedef struct hu_work {
	const hu_call *call;
	const char *op;                   /* the operator's name, for messages */
	hu_role role;                     /* the part that it plays, in fused passes */
	const hu_slot *in[16], *out[8];   /* the first 16 inputs and 8 outputs */
	const hu_slot *const *all;        /* every input */
	hu_pulse *pulse;
	void *queue;
	int arch;                         /* the device's matrix units, a hu_tc_arch; -1: any, computed by its model */
	/* Scratch space for the call's intermediate results, which all calls of a program share. If dry is set nothing
	   is launched: the launcher only reports by hu_work_take how much it will need. */
	unsigned char *scratch;
	size_t used, peak;
	int dry;
	const hu_slot *copy; /* for a fused update: where the new weight goes in another format; NULL: nowhere */
	int copy_flags;                   /* of that cast's rounding */
	hu_update_tally *updates;         /* where an update adds its counts; NULL: nowhere */
	int gemm;                         /* how products are computed, a hu_gemm_way */
	int carry;                        /* only outputs from number hu_op.carried on are wanted */
	char *ran;                        /* HU_RAN bytes where a product says how it is computed; NULL: nowhere */
} hu_work;

/* Takes this many bytes of scratch space, 256-byte aligned, with undefined contents, until the call ends or `used` is
   set back. It is device memory, or a meaningless address on a dry run. */
static inline void *
hu_work_take(hu_work *w, size_t bytes)
{
	void *p = w->scratch + w->used;

	w->used += (bytes + 255) / 256 * 256;
	w->peak = w->used > w->peak ? w->used : w->peak;
	return p;
}

typedef struct hu_kernel { const char *op; hu_status (*launch)(hu_work *w); } hu_kernel;

#ifdef __cplusplus
}
#endif
#endif
