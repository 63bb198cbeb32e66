/* SPDX-License-Identifier: Apache-2.0
   A device's matrix instructions as units that can be probed, and their comparison with the models on random
   operands. */
#ifndef HU_ANALYZERS_PROBE_DEVICE_H
#define HU_ANALYZERS_PROBE_DEVICE_H

#include "analyzers/probe/probe.h"
#include "cuda/fuse/side.h"

/* A row of instructions.def. cuda/gemm/mma.h and probe_unit.h define kind and half; k is the number of its products;
   path is a hu_tc_path. */
typedef struct hu_instruction { const char *name; int kind, half, k; hu_format_id in, out; int path; } hu_instruction;

/* Returns row i; NULL past the last. */
const hu_instruction *hu_instruction_at(int i);
/* Returns 1 where matrix units of arch have it. */
int hu_instruction_of(const hu_instruction *i, hu_tc_arch arch);

/* A device's side (its kernels) with its queue, an instruction, and memory for tiles. failed is the status of the last
   dot or payload. */
typedef struct hu_probe_device {
	const hu_side *side;
	void *queue;
	hu_tc_arch arch;
	const hu_instruction *i;
	float *c, *d;
	uint32_t *a, *b;
	size_t tiles;
	unsigned steps;
	hu_status failed;
} hu_probe_device;

/* Opens backend: cuda, or shim, where the same kernel computes the model of arch on the host. A device whose
   architecture is known replaces arch by its own. HU_EDEVICE, HU_EUNABLE say why it cannot be opened. */
hu_status hu_probe_open(hu_probe_device *p, const char *backend, hu_tc_arch arch);
void hu_probe_close(hu_probe_device *p);
/* Makes p use instruction i from now on. HU_EUNABLE: the build has no code of it for this device. */
hu_status hu_probe_take(hu_probe_device *p, const hu_instruction *i);
/* Returns p's instruction as a unit, whose model has the instruction's block length. */
hu_probe_unit hu_probe_unit_of(hu_probe_device *p, hu_sum s);

/* Probe P32: puts the same operands in every row and column, repeat times; *differ counts sums that differ from the
   first. */
hu_status hu_probe_repeat(hu_probe_device *p, hu_sum s, int repeat, size_t *differ);

/* Returns how many operands of format f a 32-bit word holds. */
size_t hu_probe_each(hu_format_id f);
/* Computes `tiles` tiles on the device, one instruction each; cuda/probe/probe.h says how they are laid out. */
hu_status hu_probe_send(
	hu_probe_device *p, float *d, const uint32_t *a, const uint32_t *b, const float *c, size_t tiles);

/* Compares n sums of random operands with model s. The operands are words of every kind, and tiles of tiny terms,
   cancelling pairs, exponent gaps near the depth of the alignment, and results near overflow; out->by counts the sums
   of each kind, as many of every one. out->differ counts sums whose bits differ (for fp16 output any NaN equals any
   other); out->first describes the first one, "" where there is none. */
enum { HU_PROBE_KINDS = 6 };
typedef struct hu_probe_random { size_t sums, differ, by[HU_PROBE_KINDS]; char first[512]; } hu_probe_random;
hu_status hu_probe_random_run(hu_probe_device *p, hu_sum s, size_t n, uint64_t seed, hu_probe_random *out);
#endif
