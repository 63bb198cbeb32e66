/* SPDX-License-Identifier: Apache-2.0
   A training that is ready to step: data, programs, back end, state. The loop of
   train and the re-execution of verify drive the same one. */
#ifndef HU_TRAINER_SESSION_H
#define HU_TRAINER_SESSION_H

#include "lib/program/backend.h"
#include "trainer/run/build.h"

/* Tensor ids of a program; -1 where it has none. */
typedef struct hu_ids {
	int array[HU_ARRAYS];   /* the inputs that the data set's arrays feed */
	int labels, weight, loss, p, scale, found, where, norm;
} hu_ids;

typedef struct hu_session {
	const hu_config *config;
	hu_dataset data;
	hu_programs programs;
	const hu_backend *backend;
	hu_machine *train, *eval;
	hu_ids id, eval_id;
	size_t steps_per_epoch, steps;  /* of the whole training */
	size_t epoch_shuffled;          /* of which `order` is the shuffle; SIZE_MAX: of none yet */
	size_t *order;
	size_t *index;                  /* rows of an evaluation batch */
	float *batch[HU_ARRAYS];        /* one batch of each of the data set's arrays */
	int labels;                     /* which of them is "labels" */
	float *weight;                  /* of the batch's rows */
	float *next_labels;             /* of the batch that a device was fed ahead, */
	size_t ahead;                   /* for step ahead - 1; 0: none */
	void *read;                     /* room for any tensor, as doubles or floats */
} hu_session;

/* The two programs of s's configuration and data, loaded on s's back end, and what is watched there: the part of
   opening a session that takes a device's memory. */
hu_status hu_session_machines(hu_session *s);
/* data is taken over, whether this succeeds or not. The state is not set: hu_session_start or hu_session_restore does.
 */
hu_status hu_session_open(hu_session *s, const hu_config *c, hu_dataset *data);
void hu_session_close(hu_session *s);
/* Initial weights, moments, loss scale. */
hu_status hu_session_start(hu_session *s);
/* State from tensors by id (a checkpoint's). */
hu_status hu_session_restore(hu_session *s, const hu_tensor *t);

/* Every call of step `step` on its batch; then hu_session_commit. Between the two the old and
   the new state can be read side by side. */
hu_status hu_session_step(hu_session *s, size_t step);
hu_status hu_session_commit(hu_session *s, uint64_t *digest);

/* On a device: commits step `step` and launches the next one, so that what step left is read while that runs; between
   the two calls of hu_session_lag reads, and the digest, are step's. hu_session_may_lag: whether the back end can. */
int hu_session_may_lag(const hu_session *s);
hu_status hu_session_advance(hu_session *s, size_t step);
void hu_session_lag(hu_session *s, int back);
hu_status hu_session_digest(hu_session *s, uint64_t *digest);

/* A tensor of the training program as the host sees it: *t points into the machine, or into s's
   own room until the next call. */
hu_status hu_session_read(hu_session *s, int tensor, hu_tensor *t);
hu_status hu_session_scalar(hu_session *s, int tensor, double *x);
/* Copies of the tensors with select set (NULL: all), by id; freed by hu_session_free_tensors. */
hu_status hu_session_copy(hu_session *s, const char *select, hu_tensor **t);
void hu_session_free_tensors(const hu_session *s, hu_tensor *t);

/* The batch to machine m: n of the data set's rows by number; the rows after them are zeros of weight 0. */
hu_status hu_session_feed(hu_session *s, hu_machine *m, const hu_ids *id, const size_t *index, size_t n);
hu_status hu_session_read_from(hu_session *s, hu_machine *m, const hu_program *p, int tensor, hu_tensor *t);

typedef struct hu_evaluation { double loss, accuracy, precision, recall; } hu_evaluation;

/* The rows to evaluate through the evaluation program with the training's present state. The loss is
   the mean over rows; precision and recall are macro averages, 0 for a class never predicted or
   absent. A row whose softmax is NaN counts as wrong. */
hu_status hu_session_evaluate(hu_session *s, hu_evaluation *e);
/* Rows of the last training batch whose largest probability is the label's. */
hu_status hu_session_accuracy(hu_session *s, double *accuracy);
/* The largest of n numbers, the first of equals; n where there is none (NaN). */
size_t hu_argmax(const hu_tensor *t, size_t row, size_t n);
#endif
