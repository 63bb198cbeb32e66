/* SPDX-License-Identifier: Apache-2.0
   The tables metrics.tsv, grads.tsv, updates.tsv and, with --count, exponents.tsv and casts.tsv of a run. They are
   collected row by row in memory and written whole at checkpoints and at the end, so that a file on disk always ends
   with a complete row. */
#ifndef HU_TRAINER_METRICS_H
#define HU_TRAINER_METRICS_H

#include "lib/base/team.h"
#include "lib/base/tsv.h"
#include "trainer/run/session.h"

typedef struct hu_metrics_row {
	size_t step, epoch;              /* both from 0 */
	double loss, accuracy, rate, loss_scale, grad_norm, seconds, waited;
	double joules, utilisation;      /* negative: not available */
	int evaluated, skipped;
	hu_evaluation eval;
	int overflow_call, overflow_tensor;  /* -1: none */
	double overflow_count, overflow_tensors;
	uint64_t digest;
} hu_metrics_row;

/* exponents and casts have no columns where nothing is counted; team is the number of threads that counting is worth */
typedef struct hu_metrics {
	hu_tsv rows, grads, updates, exponents, casts;
	hu_team team;
	size_t steps;          /* rows that were added, not read */
	double seconds, waited; /* sums over them */
} hu_metrics;

void hu_metrics_init(hu_metrics *m, const hu_config *c);
void hu_metrics_release(hu_metrics *m);
/* Reads the rows of the steps before step of p's training from the tables in dir, by the columns' names: "-" stands in
   a column that a table of an earlier version lacks. HU_EFILE where a table is missing, ends too early or has a column
   that is not written any more. */
hu_status hu_metrics_resume(hu_metrics *m, const hu_program *p, const char *dir, size_t step);

/* Fills *r with loss, accuracy, scale, overflow, gradients and updates, and adds rows to the other tables. To be called
   between hu_session_step and hu_session_commit, when old and new state can both be read. */
hu_status hu_metrics_observe(hu_metrics *m, hu_session *s, size_t step, hu_metrics_row *r);
void hu_metrics_add(hu_metrics *m, const hu_session *s, const hu_metrics_row *r);
hu_status hu_metrics_write(const hu_metrics *m, const char *dir);
#endif
