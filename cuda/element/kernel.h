/* SPDX-License-Identifier: Apache-2.0
   A call as the kernels see it: its tensors in device memory, in their formats' own codes.
   An operator's file defines hu_status HU_SIDE(op_NAME)(hu_work *), which launches what
   computes the call's outputs, and kernels.def lists it. Nothing here waits for the device. */
#ifndef HU_CUDA_KERNEL_H
#define HU_CUDA_KERNEL_H

#ifdef __cplusplus
extern "C" {
#endif
#include "lib/base/status.h"
#include "lib/number/count.h"
#include "lib/op/call.h"

/* A tensor on the device. An element takes hu_slot_size bytes: its code in 1 or 2 bytes where kernels
   have a quick way for it (cuda/element/code.h), else a float that holds the value, or an fp64's double. */
typedef struct hu_slot { void *data; hu_format_id format; hu_shape shape; size_t n; } hu_slot;

size_t hu_slot_size(hu_format_id f);

/* What the kernels index. */
#define HU_MOST_ELEMENTS ((size_t)1 << 31)

/* What changes from step to step, and what a kernel has to report, both in device memory. */
typedef struct hu_pulse { uint64_t seed; uint32_t step, fault; uint64_t digest; } hu_pulse;

/* fault: 0, or which call's kernel met something that the CPU refuses, and what. */
enum { HU_FAULT_LABEL = 1 };

enum { HU_RAN = 192 };

typedef struct hu_work {
	const hu_call *call;
	const char *op;                   /* the operator's name; in fused passes */
	const hu_slot *in[16], *out[8];   /* of calls with more inputs: more */
	const hu_slot *const *all;        /* every input; IN holds the first 16 */
	hu_pulse *pulse;
	void *queue;
	int arch;                         /* the device's matrix units, a hu_tc_arch; -1: all, by their models */
	/* Room for the call's own intermediate results, shared by all calls of a program. With DRY set
	   nothing is launched: the launcher only says by hu_work_take how much room it will want. */
	unsigned char *scratch;
	size_t used, peak;
	int dry;
	const hu_slot *copy; /* a fused update's: where the new weight goes in another format; NULL: nowhere */
	int copy_flags;                   /* of that cast's rounding */
	hu_update_tally *updates;         /* an update's: its counts are added there; NULL: nowhere */
	int gemm;                         /* how products are computed, a hu_gemm_way */
	char *ran;                        /* HU_RAN bytes for a product to say how it is computed; NULL: nowhere */
} hu_work;

/* BYTES of scratch, 256-byte aligned, unset, until the call ends or `used` is set back; device memory, or an address
   that means nothing on a dry run. */
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
