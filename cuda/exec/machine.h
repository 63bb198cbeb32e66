/* SPDX-License-Identifier: Apache-2.0
   The executor for GPU and shim: it keeps a program's tensors in device memory and launches each call's kernel in
   order. Nothing returns to the host but what is read. */
#ifndef HU_CUDA_MACHINE_H
#define HU_CUDA_MACHINE_H

#include "cuda/fuse/side.h"
#include "lib/program/spread/part.h"

/* Where tensors and scratch space lie on a dry run: launchers count offsets from it, which C does not allow from NULL,
   and nothing reads it. A multiple of every alignment that they ask for. */
#define HU_NOWHERE ((void *)4096)

/* These are the members of hu_backend (lib/program/spread/backend.h). open: HU_EUNABLE names the first operator without
   a kernel; HU_ENOMEM says how much memory was needed, how much there is, and which batch would fit. */
hu_status hu_machine_open(hu_machine **m, const hu_program *p, const hu_side *side, hu_gemm_way gemm);
void hu_machine_close(hu_machine *m);
/* The members of hu_part_calls (lib/program/spread/part.h). A part is fused within stretches of calls between messages,
   and has no graphs; messages are the tensors' elements as they lie on the device. */
hu_status hu_machine_open_part(hu_machine **m, const hu_spread *s, const hu_side *side, hu_gemm_way gemm);
double hu_machine_part_memory(const hu_machine *m);
hu_status hu_machine_part_begin(hu_machine *m, const hu_env *env);
hu_status hu_machine_part_end(hu_machine *m);
hu_status hu_machine_part_run(hu_machine *m, int first, int n);
hu_status hu_machine_part_carry(hu_machine *m, int call);
hu_status hu_machine_part_judge(hu_machine *m, int call);
hu_status hu_machine_part_found(hu_machine *m, int call, int *yes);
hu_status hu_machine_part_join(hu_machine *m);
hu_status hu_machine_part_reduce(hu_machine *m, int call);
const char *hu_machine_part_library(int what);
hu_status hu_machine_part_count(hu_machine *m, const int *tensor, int n, double *nonfinite);
hu_status hu_machine_part_own_digest(hu_machine *m, uint64_t *digest);
size_t hu_machine_part_bytes(const hu_machine *m, int tensor);
hu_status hu_machine_part_out(hu_machine *m, int tensor, void **message);
hu_status hu_machine_part_landed(hu_machine *m, int tensor);
hu_status hu_machine_part_room(hu_machine *m, int tensor, void **message);
hu_status hu_machine_part_in(hu_machine *m, int tensor);
/* fuse: adjacent calls are computed in one pass (cuda/fuse/fuse.h). graphs: from its second run on a step is a recorded
   graph. Both are on at the start; no bit of a result depends on them. */
void hu_machine_tune(hu_machine *m, int fuse, int graphs);
/* A value written to an input is used by the next step and seen by reads after it; one written to a state tensor, at
   once. */
hu_status hu_machine_write(hu_machine *m, int tensor, const void *values);
/* Where an input's next values are made, if they travel as floats: write then sends them without a copy. */
hu_status hu_machine_room(hu_machine *m, int tensor, void **values);
/* HU_EINVAL if a kernel of an earlier step met input that the CPU's operator refuses. */
hu_status hu_machine_read(hu_machine *m, int tensor, void *values);
/* Reads n tensors at once, values[i] from tensor[i]; one is transferred while another is unpacked. */
hu_status hu_device_gather(hu_machine *m, const int *tensor, int n, void *const *values);
hu_status hu_machine_step(hu_machine *m, const hu_env *env);
hu_status hu_machine_commit(hu_machine *m);
hu_status hu_machine_digest(hu_machine *m, uint64_t *digest);
/* From the next step on, the values, counts and censuses of the listed tensors are sent to the host after each step. */
hu_status hu_machine_watch(hu_machine *m, const int *value, int nvalue, const int *counted, int ncounted,
	const int *surveyed, int nsurveyed);
/* back selects which completed step watched values, counts and the digest refer to: 0 the last, 1 the one before, while
   the last may still be running. */
void hu_machine_lag(hu_machine *m, int back);
/* Returns 1 if a step that is not yet committed counted the tensor; *st says whether that succeeded. */
int hu_machine_tally(hu_machine *m, int tensor, hu_tally *tally, hu_status *st);
/* The same for a census, and for an update's counts. */
int hu_machine_census(hu_machine *m, int tensor, hu_census *census, hu_status *st);
int hu_machine_updates(hu_machine *m, int call, hu_update_tally *count, hu_status *st);
/* The status for the fault that a pulse reports. */
hu_status hu_machine_fault(uint32_t fault);
void hu_machine_profile(hu_machine *m, double *seconds);
hu_status hu_machine_mark(hu_machine *m, int end);
hu_status hu_machine_elapsed(hu_machine *m, double *seconds);
hu_pass hu_machine_pass(hu_machine *m, int call);
const char *hu_machine_ran(hu_machine *m, int call);

/* Runs one call alone, for tests: copies its inputs to the device, runs its kernel, copies the outputs back. */
hu_status hu_device_call(
	const hu_side *side, const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);
/* The same with products computed by the way gemm; ran gets HU_RAN bytes that say how, unless it is NULL. */
hu_status hu_device_call_by(const hu_side *side, hu_gemm_way gemm, char *ran, const hu_call *c, hu_tensor *const *in,
	hu_tensor *const *out, const hu_env *env);
/* The kernel of an operator; NULL if side has none. */
const hu_kernel *hu_machine_kernel(const hu_side *side, const hu_op *op);
/* HU_EUNABLE if side has no kernel for the call. */
hu_status hu_machine_serves(const hu_side *side, const hu_call *c);
#endif
