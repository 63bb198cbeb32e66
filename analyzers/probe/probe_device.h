/* SPDX-License-Identifier: Apache-2.0
   A device's matrix instructions as what answers the probes, and compared with their models on random operands. */
#ifndef HU_ANALYZERS_PROBE_DEVICE_H
#define HU_ANALYZERS_PROBE_DEVICE_H

#include "analyzers/probe/probe.h"
#include "cuda/exec/side.h"

/* A row of instructions.def. kind and half: cuda/gemm/mma.h's and probe_unit.h's. k: products in it. path:
   hu_tc_path's. */
typedef struct hu_instruction { const char *name; int kind, half, k; hu_format_id in, out; int path; } hu_instruction;

/* NULL past the last. */
const hu_instruction *hu_instruction_at(int i);
/* Whether matrix units of arch have it. */
int hu_instruction_of(const hu_instruction *i, hu_tc_arch arch);

/* A side with its queue, an instruction, and room for tiles. failed: what the last dot or payload met. */
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

/* backend: cuda, or shim, which computes arch's model through the same kernel. HU_EDEVICE, HU_EUNABLE say why not.
   arch: where the device has one that is known, its own. */
hu_status hu_probe_open(hu_probe_device *p, const char *backend, hu_tc_arch arch);
void hu_probe_close(hu_probe_device *p);
/* Takes instruction i from here on. HU_EUNABLE: the build has no code of it for this device. */
hu_status hu_probe_take(hu_probe_device *p, const hu_instruction *i);
/* p's instruction as a unit; its model has no other blocks than the instruction's. */
hu_probe_unit hu_probe_unit_of(hu_probe_device *p, hu_sum s);

/* P32: the same operands in every row and column, repeat times: sums that differ from the first. */
hu_status hu_probe_repeat(hu_probe_device *p, hu_sum s, int repeat, size_t *differ);

/* Operands of format f in a word. */
size_t hu_probe_each(hu_format_id f);
/* `tiles` tiles as cuda/probe/probe.h lays them out, one instruction each, there and back. */
hu_status hu_probe_send(
	hu_probe_device *p, float *d, const uint32_t *a, const uint32_t *b, const float *c, size_t tiles);

/* N sums of random operands compared with the model S: words of every kind, and tiles of tiny terms, cancelling pairs,
   exponent gaps near the alignment's depth and results near overflow. *differ counts bits that differ (of fp16 output,
   any NaN equals any other); `first` says the first, "" where there is none. */
typedef struct hu_probe_random { size_t sums, differ; char first[512]; } hu_probe_random;
hu_status hu_probe_random_run(hu_probe_device *p, hu_sum s, size_t n, uint64_t seed, hu_probe_random *out);
#endif
