/* SPDX-License-Identifier: Apache-2.0
   The executor of both sides: a program with its tensors in device memory, run by launching
   each call's kernel in order. Nothing returns to the host but what is read. */
#ifndef HU_CUDA_MACHINE_H
#define HU_CUDA_MACHINE_H

#include "cuda/side.h"
#include "lib/program/backend.h"

/* As the members of hu_backend (lib/program/backend.h). open: HU_EUNABLE names the first operator
   without a kernel, HU_ENOMEM says what was needed, what there is, and which batch would fit. */
hu_status hu_device_open(hu_machine **m, const hu_program *p, const hu_side *side);
void hu_device_close(hu_machine *m);
hu_status hu_device_write(hu_machine *m, int tensor, const void *values);
/* HU_EINVAL where a kernel of a step before met what the CPU's operator refuses. */
hu_status hu_device_read(hu_machine *m, int tensor, void *values);
hu_status hu_device_step(hu_machine *m, const hu_env *env);
hu_status hu_device_commit(hu_machine *m);
hu_status hu_device_digest(hu_machine *m, uint64_t *digest);

/* One call alone, for tests: inputs are copied to SIDE, its kernel runs, outputs are copied back. */
hu_status hu_device_call(const hu_side *side, const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);
/* The row of an operator; NULL where SIDE has no kernel for it. */
const hu_kernel *hu_device_kernel(const hu_side *side, const char *op);
/* HU_EUNABLE says why SIDE cannot run the call: no kernel, or a compute format that no kernel has. */
hu_status hu_device_serves(const hu_side *side, const hu_call *c);
#endif
