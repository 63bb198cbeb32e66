/* SPDX-License-Identifier: Apache-2.0
   Re-execution: of a whole run, digest by digest, and of traced calls, element by element. */
#ifndef HU_TRAINER_VERIFY_H
#define HU_TRAINER_VERIFY_H

#include "lib/store/run.h"

/* What verify found, in the order in which it looked: the programs, then step by step the state and the evaluation. */
typedef struct hu_verified {
	size_t steps, step;         /* re-executed; the last of them */
	int differs;                /* anything does */
	char recorded[24], got[24]; /* digests of the last step */
	size_t program;             /* calls and tensors in which this program would train or evaluate otherwise */
	char *why;                  /* a line each, "train: call 53 conv2d_dw conv1: part 4096 -> 2048"; or NULL */
	size_t evaluations;         /* that were repeated */
	const char *column;         /* of metrics.tsv, where an evaluation is not the recorded one; or NULL */
	double evaluated, want;
} hu_verified;

/* Trains again from r's manifest on backend (NULL: the run's own), products by way gemm (NULL: the run's own; auto
   on another back end, HU_EUNABLE there for a run with cublas, which promises no bits; on its own by the recorded
   algorithms), at most `steps` steps (0: all that the run has), and stops at the first digest or evaluation that is not
   the recorded one. Before that the programs that would be run are compared with the recorded ones. HU_EFILE where the
   data, or weights the run started from, are no longer what they were. */
hu_status hu_verify_run(hu_verified *v, const hu_run *r, const char *backend, const char *gemm, size_t steps);
void hu_verified_release(hu_verified *v);

typedef struct hu_difference {
	size_t step, element;
	int call, tensor;
	double recorded, got;
	uint64_t recorded_bits, got_bits;
	int inherited; /* an input of the call is itself not what its own call makes */
} hu_difference;

typedef struct hu_differences {
	hu_difference *list;
	size_t n, cap, calls, skipped, elements;
} hu_differences;

/* Every traced call of every traced step; calls whose inputs or outputs were not recorded are skipped and counted. */
hu_status hu_verify_trace(hu_differences *d, const hu_run *r);
void hu_differences_release(hu_differences *d);
json_t *hu_differences_to_json(const hu_differences *d, const hu_run *r);
void hu_differences_print(const hu_differences *d, const hu_run *r, FILE *f);
#endif
