/* SPDX-License-Identifier: Apache-2.0
   The emulation of a whole program: a program with memory for its tensors, and the loop over its calls. */
#ifndef HU_PROGRAM_EXEC_H
#define HU_PROGRAM_EXEC_H

#include "lib/base/team.h"
#include "lib/program/program.h"

typedef struct hu_exec {
	const hu_program *p;
	hu_tensor *t;         /* one for each tensor of the program; zeroed at the start */
	uint64_t *name_hash;
	hu_team *team;        /* one per call and one for the digest, to learn how many threads each is worth */
	double *seconds;      /* seconds[i] += the time of call i; NULL: no timing */
	void **room;          /* memory that tensors share, NULL where each has its own */
	size_t nroom;
	/* called after every call; NULL: nothing is */
	void (*after)(void *with, const struct hu_exec *x, int call);
	void *with;
} hu_exec;

/* Allocates every tensor. HU_ENOMEM says how many bytes were needed. p must outlive *x. */
hu_status hu_exec_init(hu_exec *x, const hu_program *p);
/* The same, but a tensor's memory becomes another's after its last reader, so that a run touches less memory: what
   calls make has its values only until then, or if keep (by tensor id) says so. For programs without a `next`.
   lent, by tensor id or NULL: elements that a tensor which no call makes reads where they are, if they have its format,
   float32 or fp64; they must outlive *x. */
hu_status hu_exec_init_sharing(hu_exec *x, const hu_program *p, const char *keep, const hu_tensor *lent);
/* The same for some tensors (by id): the others have no data, and no call that reads or writes one may run. */
hu_status hu_exec_init_some(hu_exec *x, const hu_program *p, const char *need);
void hu_exec_release(hu_exec *x);
/* Bytes that an hu_exec of p takes with this many threads: its tensors and what its calls allocate temporarily.
   Measurements never exceed it. */
double hu_exec_bytes(const hu_program *p, int threads);
/* Runs every call in order. State tensors keep their old values until hu_exec_commit. */
hu_status hu_exec_run(hu_exec *x, const hu_env *env);
/* Runs one of them, as hu_exec_run does: with as many threads as it is worth. */
hu_status hu_exec_one(hu_exec *x, int call, const hu_env *env);
/* Ends the step: every state tensor with a `next` takes that tensor's value. */
void hu_exec_commit(hu_exec *x);
/* Runs one call alone on given tensors (indexed by tensor id), for verify and replay. */
hu_status hu_exec_call(const hu_program *p, int call, hu_tensor *t, const hu_env *env);
/* Sums hu_digest_term over every element of every state tensor that has data. */
uint64_t hu_exec_digest(const hu_exec *x);
/* The same of the states that belong to one rank (hu_info.own): the part of the digest that other ranks have not. */
uint64_t hu_exec_own_digest(const hu_exec *x);
/* Counts the elements that are infinite or NaN; it may use threads. */
size_t hu_tensor_nonfinite(const hu_tensor *t);
#endif
