/* SPDX-License-Identifier: Apache-2.0
   The emulate interpreter's loop: a program with memory for its tensors. */
#ifndef HU_PROGRAM_EXEC_H
#define HU_PROGRAM_EXEC_H

#include "lib/base/team.h"
#include "lib/program/program.h"

typedef struct hu_exec {
	const hu_program *p;
	hu_tensor *t;         /* one a tensor of the program; zeroed at the start */
	uint64_t *name_hash;
	hu_team *team;        /* one a call, and one for the digest: how many threads they are worth */
	double *seconds;      /* a call's seconds are added here, by its place in the program; NULL: nobody asks */
} hu_exec;

/* Allocates every tensor; HU_ENOMEM says how many bytes were needed. P is kept by reference. */
hu_status hu_exec_init(hu_exec *x, const hu_program *p);
void hu_exec_release(hu_exec *x);
/* Bytes that an hu_exec of P takes, tensors and what its calls allocate on their way with THREADS threads: never less
   than is measured. */
double hu_exec_bytes(const hu_program *p, int threads);
/* Runs every call in order. State tensors keep their old value until hu_exec_commit. */
hu_status hu_exec_run(hu_exec *x, const hu_env *env);
/* The step ends: every state tensor with a `next` takes its value. */
void hu_exec_commit(hu_exec *x);
/* Runs one call alone on given tensors (indexed by tensor id): verify, replay. */
hu_status hu_exec_call(const hu_program *p, int call, hu_tensor *t, const hu_env *env);
/* Copies every state tensor of FROM into the tensor of the same name and format of TO. */
void hu_exec_copy_state(hu_exec *to, const hu_exec *from);
/* Sum of hu_digest_term over every element of every state tensor. */
uint64_t hu_exec_digest(const hu_exec *x);
/* Count of non-finite elements. */
size_t hu_tensor_nonfinite(const hu_tensor *t);
#endif
