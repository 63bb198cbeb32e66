/* SPDX-License-Identifier: Apache-2.0
   A training that is ready to step: data, programs, back end and state. Both the loop of train and the repetition by
   verify drive it. */
#ifndef HU_TRAINER_SESSION_H
#define HU_TRAINER_SESSION_H

#include "lib/program/spread/backend.h"
#include "trainer/run/build.h"

/* Ids of a program's tensors; -1 where it has no such tensor. */
typedef struct hu_ids {
	int array[HU_ARRAYS]; /* the inputs that the data set's arrays feed */
	int labels, weight, loss, p, scale, found, where, norm, rate;
	size_t classes; /* how many values a label has: the data's, or where views are compared, as many as views */
} hu_ids;

typedef struct hu_session {
	const hu_config *config;
	hu_dataset data;
	hu_programs programs;
	const hu_backend *backend;
	hu_machine *train, *eval;
	hu_ids id, eval_id;
	size_t steps_per_epoch, steps; /* of the whole training */
	size_t epoch_shuffled;         /* the epoch that `order` is the shuffle of; SIZE_MAX before the first */
	size_t *order;
	size_t *index;           /* rows of an evaluation batch */
	float *batch[HU_ARRAYS]; /* one batch of each of the data set's arrays */
	int labels;              /* index of the array "labels", or of "mask" where the model reads that alone */
	size_t labels_each;      /* how many of them a row has: 1, or one for each pixel, token or view */
	size_t views;            /* rows of the program that each row makes: 2 where the loss compares views of it */
	float *weight;           /* their weights */
	float *next_labels;      /* labels of the batch that a device received ahead of its step, */
	size_t ahead;            /* which is step ahead - 1; 0 where there is none */
	double waited;           /* seconds in which batches for training were made and read; the loop sets it to 0 */
	size_t first_row, rows;  /* of a batch for training, those that this process executes */
	void *read;              /* buffer that any tensor fits into, as doubles or floats */
} hu_session;

/* Loads the two programs of s's configuration and data on s's back end and registers the tensors to be watched: the
   part of opening a session that takes a device's memory. */
hu_status hu_session_machines(hu_session *s);
/* Registers what hu_metrics_observe (trainer/record/metrics.h) reads after every step with s's back end, so that a
   device sends it without being asked. */
hu_status hu_session_watch(hu_session *s);
void hu_session_close(hu_session *s);
/* Sets the initial weights, moments and loss scale. */
hu_status hu_session_start(hu_session *s);
/* Sets the state from tensors by id, as a checkpoint has them. */
hu_status hu_session_restore(hu_session *s, const hu_tensor *t);

/* Executes every call of step `step` on its batch. hu_session_commit must follow; between the two the old and the new
   state can both be read. */
hu_status hu_session_step(hu_session *s, size_t step);
hu_status hu_session_commit(hu_session *s, uint64_t *digest);

/* Devices only. hu_session_advance commits step `step` and launches the next one, so that the results of `step` are
   read while that runs. Between hu_session_lag(s, 1) and hu_session_lag(s, 0), reads and the digest refer to `step`.
   hu_session_may_lag says whether the back end can do this. */
int hu_session_may_lag(const hu_session *s);
hu_status hu_session_advance(hu_session *s, size_t step);
void hu_session_lag(hu_session *s, int back);
hu_status hu_session_digest(hu_session *s, uint64_t *digest);

/* Reads a tensor of the training program on the host. t->data points into the machine, or into s's own buffer, which
   the next call overwrites. */
hu_status hu_session_read(hu_session *s, int tensor, hu_tensor *t);
hu_status hu_session_scalar(hu_session *s, int tensor, double *x);
/* Copies the tensors whose entry in select is set (NULL: all), by id; hu_session_free_tensors frees them. */
hu_status hu_session_copy(hu_session *s, const char *select, hu_tensor **t);
/* Makes tensors of the state alone, with room for values that the caller sets. */
hu_status hu_session_state_room(hu_session *s, hu_tensor **t);
/* Sets the state from the checkpoint that the run in dir has of a step. */
hu_status hu_session_load(hu_session *s, const char *dir, size_t step);
void hu_session_free_tensors(const hu_session *s, hu_tensor *t);

/* Of data whose digest is not over its elements (images of a folder): the digest of the rows that steps from .. to - 1
   feed the training and, if evaluated is set, of those for evaluation; *rows gets their number, 0 of other data. Rows
   are read if they were not yet. Where ranks share the steps each has only those that it reads before any other does:
   hu_ranked_read_rows adds them up. */
hu_status hu_session_read_rows(
	hu_session *s, size_t from, size_t to, int evaluated, size_t *rows, uint64_t *digest);

/* Feeds machine m a batch: n rows of the data set, by number; the rows after them are zeros of weight 0. */
hu_status hu_session_feed(hu_session *s, hu_machine *m, const hu_ids *id, const size_t *index, size_t n);
hu_status hu_session_read_from(hu_session *s, hu_machine *m, const hu_program *p, int tensor, hu_tensor *t);

typedef struct hu_evaluation {
	double loss, accuracy, precision, recall, dice, iou, hit_rate, ndcg;
} hu_evaluation;

/* Runs the rows for evaluation through the evaluation program with the training's present state. The loss is the mean
   of the batches' losses, each weighed by how many of its labels are not ignored; precision and recall are macro
   averages over classes, where a class that is never predicted or absent counts as 0. With t labels of a class, p
   predictions of it and h of both, its Dice coefficient is 2h/(t + p) and its intersection over union h/(t + p - h);
   dice and iou are their means over the classes that are labelled or predicted. A row, or a pixel, whose softmax is
   NaN counts as wrong. Where rows come in groups of candidates (trainer/data/data.h), hit_rate is the share of groups
   whose first row is among the ten with the largest probability of label 1, and ndcg the mean of 1 / log2(rank + 1)
   of these ranks, from 1, and 0 for the other groups (normalised discounted cumulative gain); a row of equal
   probability ranks before the first. Elsewhere both are NaN. */
hu_status hu_session_evaluate(hu_session *s, hu_evaluation *e);
/* Sets *accuracy to the share of rows, pixels or tokens of the last training batch whose largest probability is the
   label's. */
hu_status hu_session_accuracy(hu_session *s, double *accuracy);
/* Returns the index of the largest of n numbers in that row, the first of equals; n where all are NaN. Of t with one
   number a row, the probability of class 1, it returns the likelier class, 0 of equals; n where that is NaN. */
size_t hu_argmax(const hu_tensor *t, size_t row, size_t n);
#endif
