/* SPDX-License-Identifier: Apache-2.0
   Executes a run again and compares: a whole run by the digest of each step, and traced calls element by element. */
#ifndef HU_TRAINER_VERIFY_H
#define HU_TRAINER_VERIFY_H

#include "lib/store/run.h"

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
} hu_verified;

/* Repeats the training of r's manifest on backend (NULL: the run's own) for at most `steps` steps (0: all of the run),
   and stops at the first digest or evaluation that differs from the recorded one. Before that it compares the programs
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
	size_t n, cap, calls, skipped, elements;
} hu_differences;

/* Executes every traced call of every traced step again; calls whose inputs or outputs were not recorded are skipped
   and counted. */
hu_status hu_verify_trace(hu_differences *d, const hu_run *r);
void hu_differences_release(hu_differences *d);
json_t *hu_differences_to_json(const hu_differences *d, const hu_run *r);
void hu_differences_print(const hu_differences *d, const hu_run *r, FILE *f);
#endif
