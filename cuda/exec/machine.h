/* SPDX-License-Identifier: Apache-2.0
   The executor of both sides: a program with its tensors in device memory, run by launching
   each call's kernel in order. Nothing returns to the host but what is read. */
#ifndef HU_CUDA_MACHINE_H
#define HU_CUDA_MACHINE_H

#include "cuda/exec/side.h"
#include "lib/program/backend.h"

/* As the members of hu_backend (lib/program/backend.h). open: HU_EUNABLE names the first operator
   without a kernel, HU_ENOMEM says what was needed, what there is, and which batch would fit. */
hu_status hu_device_open(hu_machine **m, const hu_program *p, const hu_side *side, hu_gemm_way gemm);
void hu_device_close(hu_machine *m);
/* Whether adjacent calls are computed in one pass (cuda/fuse/fuse.h), and whether the step is a graph from its second
   run on; both from the start. No bit depends on them. */
void hu_device_tune(hu_machine *m, int fuse, int graphs);
/* An input's values are seen by the next step, and by reads after it; a state's at once. */
hu_status hu_device_write(hu_machine *m, int tensor, const void *values);
/* HU_EINVAL where a kernel of a step before met what the CPU's operator refuses. */
hu_status hu_device_read(hu_machine *m, int tensor, void *values);
/* N tensors at once, VALUES[i] of TENSOR[i], as read; one is under way while another is unpacked. */
hu_status hu_device_gather(hu_machine *m, const int *tensor, int n, void *const *values);
hu_status hu_device_step(hu_machine *m, const hu_env *env);
hu_status hu_device_commit(hu_machine *m);
hu_status hu_device_digest(hu_machine *m, uint64_t *digest);
/* From the next step on its values of these tensors and counts of those come to the host by themselves. */
hu_status hu_device_watch(hu_machine *m, const int *value, int nvalue, const int *counted, int ncounted,
	const int *surveyed, int nsurveyed);
/* BACK 1: watched values, counts and the digest are those of the step before the last one, which is running meanwhile;
   0: the last one's again. */
void hu_device_lag(hu_machine *m, int back);
/* 1 where TENSOR was counted by a step that is not committed yet; *st says how that went. */
int hu_device_tally(hu_machine *m, int tensor, hu_tally *tally, hu_status *st);
/* The same of a census, and of an update's counts. */
int hu_device_census(hu_machine *m, int tensor, hu_census *census, hu_status *st);
int hu_device_updates(hu_machine *m, int call, hu_update_tally *count, hu_status *st);
/* What a pulse's fault means. */
hu_status hu_device_fault(uint32_t fault);
void hu_device_profile(hu_machine *m, double *seconds);
hu_pass hu_device_pass(hu_machine *m, int call);
const char *hu_device_ran(hu_machine *m, int call);

/* One call alone, for tests: inputs are copied to SIDE, its kernel runs, outputs are copied back. */
hu_status hu_device_call(
	const hu_side *side, const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);
/* The same with products by way GEMM; RAN: HU_RAN bytes for what that was, or NULL. */
hu_status hu_device_call_by(const hu_side *side, hu_gemm_way gemm, char *ran, const hu_call *c, hu_tensor *const *in,
	hu_tensor *const *out, const hu_env *env);
/* The row of an operator; NULL where SIDE has no kernel for it. */
const hu_kernel *hu_device_kernel(const hu_side *side, const hu_op *op);
/* HU_EUNABLE where SIDE has no kernel for the call. */
hu_status hu_device_serves(const hu_side *side, const hu_call *c);
#endif
