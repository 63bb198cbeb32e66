/* SPDX-License-Identifier: Apache-2.0
   The machine of the back end cpu, for a whole program (backend.c) and for a rank's part of one
   (spread/part_cpu.c). */
#ifndef HU_PROGRAM_BACKEND_CPU_H
#define HU_PROGRAM_BACKEND_CPU_H

#include "lib/program/spread/backend.h"
#include "lib/program/exec.h"

struct hu_machine {
	hu_exec x;
	/* the rest is for a rank's part: its actions, the step's environment, each tensor's message, or NULL */
	const struct hu_spread *s;
	hu_env env;
	void **message;
};

/* Opens a machine of p with the tensors that need marks, all where that is NULL. HU_EINVAL where gemm names another way
   than the call's summation model. */
hu_status hu_cpu_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm, const char *need);
void hu_cpu_close(hu_machine *m);
#endif
