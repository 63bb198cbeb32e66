/* SPDX-License-Identifier: Apache-2.0
   Where a program runs: back ends chosen by name, never in silence. The cpu row stands
   here; higher floors (cuda/) add theirs at start-up. */
#ifndef HU_PROGRAM_BACKEND_H
#define HU_PROGRAM_BACKEND_H

#include "lib/number/count.h"
#include "lib/program/gemm.h"
#include "lib/program/program.h"

typedef struct hu_machine hu_machine;   /* a program loaded on a back end */

/* A pass of a device's step: the calls that are computed together, FIRST of them in the program's order. name: what
   they are fused by (cuda/fuse/fusions.def), NULL where the call is alone. launches: kernels of its own in the last
   step that launched them or was recorded. bytes: of the tensors that it reads and writes, each once, as they lie
   there. chain: each call reads what the one before it wrote. */
typedef struct hu_pass { int first, chain; const char *name; long launches; double bytes; } hu_pass;

typedef struct hu_backend {
	const char *name, *summary;
	const char *reads;        /* options of a training that it reads, a blank between two */
	/* HU_EDEVICE / HU_EUNABLE says why this machine or this build cannot, or which product GEMM does not serve. */
	hu_status (*open)(hu_machine **m, const hu_program *p, hu_gemm_way gemm);
	void (*close)(hu_machine *m);
	hu_status (*write)(hu_machine *m, int tensor, const void *values);  /* host floats (doubles for fp64) in */
	hu_status (*read)(hu_machine *m, int tensor, void *values);         /* and out */
	hu_status (*step)(hu_machine *m, const hu_env *env);                /* every call, state not yet committed */
	hu_status (*commit)(hu_machine *m);
	hu_status (*digest)(hu_machine *m, uint64_t *digest);
	/* Host memory of a tensor where the back end has it (cpu); NULL elsewhere: use read. */
	const hu_tensor *(*peek)(hu_machine *m, int tensor);
	/* From now on a step adds each call's seconds to SECONDS[call]; NULL: no longer. A device adds a pass's to its
	   first call's, by its own clock, and those of what the step leaves for the host to SECONDS[number of calls];
	   it launches call by call meanwhile, whatever tune said. */
	void (*profile)(hu_machine *m, double *seconds);
	/* What computes product CALL, in words: instruction and tile, or a library's algorithm; NULL of other calls,
	   and where there is one way. */
	const char *(*ran)(hu_machine *m, int call);
	/* Of devices alone, NULL elsewhere. Fused passes and recorded steps, on or off: no bit depends on them. */
	void (*tune)(hu_machine *m, int fuse, int graphs);
	/* A step's values of VALUE, counts of COUNTED and the census of SURVEYED come to the host by themselves: read,
	   tally and census find them there until the commit. */
	hu_status (*watch)(hu_machine *m, const int *value, int nvalue, const int *counted, int ncounted,
		const int *surveyed, int nsurveyed);
	/* 1 where TENSOR was counted. */
	int (*tally)(hu_machine *m, int tensor, hu_tally *tally, hu_status *st);
	/* 1 where TENSOR was surveyed; lost is its cast's where hu_is_cast. */
	int (*census)(hu_machine *m, int tensor, hu_census *census, hu_status *st);
	/* 1 where the updates of CALL (hu_is_update, whose row has the column updates) were counted: of the step whose
	   counts tally gives. */
	int (*updates)(hu_machine *m, int call, hu_update_tally *count, hu_status *st);
	/* BACK 1: reads of what is watched, tallies and the digest are those of the step before the last; 0: the last
	   one's again. */
	void (*lag)(hu_machine *m, int back);
	/* read, of N tensors at once: for traces. */
	hu_status (*gather)(hu_machine *m, const int *tensor, int n, void *const *values);
	/* The pass that computes CALL in every step but the first; of the number of calls: what counts and gathers what
	   is watched. */
	hu_pass (*pass)(hu_machine *m, int call);
	/* Most bytes of device memory that this process had allocated at once, since the last call with AGAIN set; the
	   driver's own, such as the code of the kernels, are not among them. */
	size_t (*peak)(int again);
} hu_backend;

/* HU_EINVAL names the nearest; the row may still fail to open. */
hu_status hu_backend_find(const char *name, const hu_backend **out);
const hu_backend *hu_backend_at(int i);
/* Adds a row; called once by the front door for each back end of the build. */
void hu_backend_register(const hu_backend *b);
#endif
