/* SPDX-License-Identifier: Apache-2.0
   Where a program runs: back ends, which are chosen by name and never silently. The cpu row is defined here; higher
   floors (cuda/) register theirs at start-up. */
#ifndef HU_PROGRAM_BACKEND_H
#define HU_PROGRAM_BACKEND_H

#include "lib/number/count.h"
#include "lib/program/gemm.h"
#include "lib/program/program.h"

typedef struct hu_machine hu_machine;   /* a program loaded on a back end */

/* A pass of a device's step, that is calls computed together. first is the first of them in the program's order. chain
   is 1 if each call reads what the one before it wrote. name is what fuses them (cuda/fuse/fusions.def), NULL if the
   call is alone. launches counts the pass's own kernels in the last step that launched or recorded them. bytes is the
   size of the tensors that it reads and writes, each once, as stored there. */
typedef struct hu_pass { int first, chain; const char *name; long launches; double bytes; } hu_pass;

typedef struct hu_backend {
	const char *name, *summary;
	int built;                /* 1 if this build has it: others are known by name, so that a refusal says why */
	const char *reads;        /* the training options it reads, separated by blanks */
	/* Loads the program. HU_EDEVICE or HU_EUNABLE says why this machine or build cannot, or which product gemm does
	   not support. */
	hu_status (*open)(hu_machine **m, const hu_program *p, hu_gemm_way gemm);
	void (*close)(hu_machine *m);
	/* host floats (doubles for fp64) to the tensor */
	hu_status (*write)(hu_machine *m, int tensor, const void *values);
	hu_status (*read)(hu_machine *m, int tensor, void *values);         /* and back */
	hu_status (*step)(hu_machine *m, const hu_env *env); /* runs every call; state is not yet committed */
	hu_status (*commit)(hu_machine *m);
	hu_status (*digest)(hu_machine *m, uint64_t *digest);
	/* The tensor in host memory if the back end keeps it there (cpu); NULL elsewhere: use read. */
	const hu_tensor *(*peek)(hu_machine *m, int tensor);
	/* From now on each step adds each call's seconds to seconds[call]; NULL ends this. A device adds a pass's time
	   to its first call's entry, by its own clock, and the time of what the step sends to the host to
	   seconds[number of calls]. Meanwhile it launches call by call, whatever tune said. */
	void (*profile)(hu_machine *m, double *seconds);
	/* Notes the device's time once the work so far is done, at the start (0) or end (1) of a stretch of steps;
	   elapsed waits for the end and gives the seconds between. NULL on the cpu. */
	hu_status (*mark)(hu_machine *m, int end);
	hu_status (*elapsed)(hu_machine *m, double *seconds);
	/* Says what computes the product call: instruction and tile, or a library's algorithm. NULL for other calls,
	   and if there is only one way. */
	const char *(*ran)(hu_machine *m, int call);
	/* The rest is for devices alone and NULL elsewhere. room sets *values to pinned memory where an input's next
	   values are best made, because write sends them from there without copying them first; NULL where the tensor
	   has none. It waits until the batch before has left that memory. */
	hu_status (*room)(hu_machine *m, int tensor, void **values);
	/* tune turns fused passes and recorded steps on or off; no
	   bit of a result depends on it. */
	void (*tune)(hu_machine *m, int fuse, int graphs);
	/* From now on each step sends the host the values of the tensors in value, the counts of those in counted and
	   the census of those in surveyed; read, tally and census find them there until the commit. */
	hu_status (*watch)(hu_machine *m, const int *value, int nvalue, const int *counted, int ncounted,
		const int *surveyed, int nsurveyed);
	/* Returns 1 if the tensor was counted. */
	int (*tally)(hu_machine *m, int tensor, hu_tally *tally, hu_status *st);
	/* Returns 1 if the tensor was surveyed. For the output of a cast (hu_is_cast) lost counts what the cast
	   lost. */
	int (*census)(hu_machine *m, int tensor, hu_census *census, hu_status *st);
	/* Returns 1 if the updates of this call (hu_is_update, with the column updates in its row) were counted; they
	   belong to the step whose counts tally gives. */
	int (*updates)(hu_machine *m, int call, hu_update_tally *count, hu_status *st);
	/* back selects which completed step watched values, tallies and the digest refer to: 0 the last, 1 the one
	   before. */
	void (*lag)(hu_machine *m, int back);
	/* Reads n tensors at once, for traces. */
	hu_status (*gather)(hu_machine *m, const int *tensor, int n, void *const *values);
	/* The pass that computes this call in every step but the first. For the number of calls, it describes the pass
	   that counts and collects watched values. */
	hu_pass (*pass)(hu_machine *m, int call);
	/* The most bytes of device memory that this process had allocated at once since the last call with again set.
	   The driver's own memory, such as kernel code, is not included. */
	size_t (*peak)(int again);
	/* How this back end executes a rank's part of a program (lib/program/spread/part.h). */
	const struct hu_part_calls *part;
} hu_backend;

/* Finds a back end; HU_EINVAL names the nearest. Opening it may still fail. */
hu_status hu_backend_find(const char *name, const hu_backend **out);
const hu_backend *hu_backend_at(int i);
/* Adds a row. halfulp.c calls this once for each back end of the build. */
void hu_backend_register(const hu_backend *b);
#endif
