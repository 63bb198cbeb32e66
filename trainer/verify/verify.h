/* SPDX-License-Identifier: Apache-2.0
   Executes a run again and compares: a whole run by the digest of each step, and traced calls element by element. */
#ifndef HU_TRAINER_VERIFY_H
#define HU_TRAINER_VERIFY_H

#include "lib/store/run.h"
#include "trainer/run/session.h"

/* What verify found, in the order in which it looked: the programs first, then for each step the state and the
   evaluation. */
typedef struct hu_verified {
	size_t steps, step;         /* how many steps were repeated; the last of them */
	int differs;                /* 1 where anything differs */
	char recorded[24], got[24]; /* digests of the last step */
	size_t program;             /* number of calls and tensors in which this version's programs differ from the
				       recorded ones */
	char *why;                  /* a line for each: "train: call 53 conv2d_dw conv1: part 4096 -> 2048"; NULL where
				       none differs */
	size_t evaluations;         /* how many evaluations were repeated */
	const char *column;         /* column of metrics.tsv in which an evaluation differs from the recorded one; or
				       NULL */
	double evaluated, want;
	char *where;                /* where the first step whose digest differs parts from the recorded one, in a
				       sentence; NULL where nothing that was recorded shows it */
} hu_verified;

/* Repeats the training of r's manifest on backend (NULL: the run's own) for at most `steps` steps (0: all of the run),
   and stops at the first digest or evaluation that differs from the recorded one; of a digest v->where then says which
   call and element, as far as the step was traced or a checkpoint follows it. Before that it compares the programs
   that would be run with the recorded ones. gemm is the way of computing products (NULL: the run's own). On another
   back end than the run's, auto is used, and a run with cublas is HU_EUNABLE, since cublas promises no bits; on the
   run's own back end cublas uses the recorded algorithms. HU_EFILE where the data, or the weights that the run started
   from, have changed. */
hu_status hu_verify_run(hu_verified *v, const hu_run *r, const char *backend, const char *gemm, size_t steps);
void hu_verified_release(hu_verified *v);

typedef struct hu_difference {
	size_t step, element;
	int call, tensor;
	double recorded, got;
	uint64_t recorded_bits, got_bits;
	int inherited; /* an input of the call already differs from what its own call computes again */
} hu_difference;

typedef struct hu_differences {
	hu_difference *list;
	size_t n, cap, calls, skipped, libraries, opaque, elements;
} hu_differences;

/* Executes every traced call of every traced step again; calls whose inputs or outputs were not recorded are skipped
   and counted, and so are those that a library computed, whose bits nobody promises. */
hu_status hu_verify_trace(hu_differences *d, const hu_run *r);
void hu_differences_release(hu_differences *d);
json_t *hu_differences_to_json(const hu_differences *d, const hu_run *r);
void hu_differences_print(const hu_differences *d, const hu_run *r, FILE *f);

/* Appends where step `step`, which x has executed and not yet committed, parts from its recorded trace: the first
   tensor in the order of the calls that differs, its call, its worst element with both values, and whether what the
   call read is as recorded. Nothing where the step was not traced or all of its recorded tensors are equal. HU_EFILE
   where the trace cannot be read. */
hu_status hu_verify_where(hu_str *s, hu_session *x, const hu_run *r, size_t step);
/* The same of the state behind step `step`, committed, from the run's checkpoint; nothing where there is none. */
hu_status hu_verify_where_state(hu_str *s, hu_session *x, const hu_run *r, size_t step);

/* The same from traced steps other than the one that differs: the first of their calls that makes another result on its
   own recorded inputs, on the CPU. Nothing where every call repeats. */
hu_status hu_verify_where_call(hu_str *s, const hu_run *r, size_t step);
#endif
