/* SPDX-License-Identifier: Apache-2.0
   What executes a rank's part of a step (spread.h), as a table of functions that each back end fills: part_cpu.c on the
   host, cuda/exec/part.c on a device. spread_run.c goes through the rank's actions with it and alone speaks with the
   other ranks, so that messages lie in host memory here: bytes that hold a tensor's elements exactly, in an encoding
   that is the same on every rank of a back end. A machine that was opened here is one of its back end: write, read,
   commit, digest, close and, for the tensors that the rank holds, the others work on it, but for step. */
#ifndef HU_PROGRAM_PART_H
#define HU_PROGRAM_PART_H

#include "lib/program/spread/backend.h"
#include "lib/program/spread/spread.h"

typedef struct hu_part_calls {
	/* Loads what s->rank executes of s->p, with memory, zeroed, for the tensors that s->need marks alone. s must
	   outlive *m. Fails as the back end's open does. */
	hu_status (*open)(hu_machine **m, const hu_spread *s, hu_gemm_way gemm);
	/* Says for people what executes it: "cpu", or a device's number and name. */
	void (*where)(char *name, size_t size);
	/* The bytes of memory that the rank's tensors take, on a device with all else that the machine allocated. */
	double (*memory)(const hu_machine *m);

	/* Called before and after the actions of a step. */
	hu_status (*begin)(hu_machine *m, const hu_env *env);
	hu_status (*end)(hu_machine *m);
	/* Executes the calls of n adjacent actions HU_DO_RUN, from s->todo[first] on. A device may still be at it when
	   this returns, also after carry, judge and in. */
	hu_status (*run)(hu_machine *m, int first, int n);
	/* Computes the results of an executed call that pass from one micro-batch to the next (hu_op.carried), from
	   operands that have arrived since. */
	hu_status (*carry)(hu_machine *m, int call);
	/* Executes the finite check on the inputs that it judges, as if it had no others; found waits for what it
	   found: *yes is 1 where one is not finite. count counts in nonfinite[i] the elements of tensor[i] that are
	   infinite or NaN. */
	hu_status (*judge)(hu_machine *m, int call);
	hu_status (*found)(hu_machine *m, int call, int *yes);
	hu_status (*count)(hu_machine *m, const int *tensor, int n, double *nonfinite);

	/* The digest of those states alone that no other rank has (hu_info.own), a part of the back end's digest. */
	hu_status (*own_digest)(hu_machine *m, uint64_t *digest);

	/* Have a library add what ranks have. join, after open, connects the ranks; collective, HU_OK or not on all of
	   them; leave, before close, parts them. reduce executes the call: HU_DO_REDUCE. library says what adds, by
	   name, algorithm and protocol. NULL: this back end has no such library. */
	hu_status (*join)(hu_machine *m);
	void (*leave)(void);
	hu_status (*reduce)(hu_machine *m, int call);
	const char *(*library)(int what);

	/* The length of a message that holds the tensor. */
	size_t (*bytes)(const hu_machine *m, int tensor);
	/* Sets *message to the host memory from which the tensor is sent, which stays as it is until the step ends;
	   landed waits until the values are there, and is NULL where they are at once. */
	hu_status (*out)(hu_machine *m, int tensor, void **message);
	hu_status (*landed)(hu_machine *m, int tensor);
	/* Sets *message to the host memory where the tensor is to be received; in then makes it the tensor's values. */
	hu_status (*room)(hu_machine *m, int tensor, void **message);
	hu_status (*in)(hu_machine *m, int tensor);
} hu_part_calls;

/* The cpu's. */
extern const hu_part_calls hu_part_cpu;

/* Executes this rank's part of a step on m, which b->part opened, with the other ranks, which do the same on back ends
   of the same name. Collective. */
hu_status hu_spread_run(const hu_backend *b, hu_machine *m, const hu_spread *s, const hu_env *env);
#endif
