/* SPDX-License-Identifier: Apache-2.0
   Reference models: each builds a forward program in float32. Passes (lib/program) change its precision afterwards, and
   an optimizer appends the updates of its weights. */
#ifndef HU_TRAINER_MODEL_H
#define HU_TRAINER_MODEL_H

#include "lib/program/program.h"
#include "trainer/model/layer/sizes.h"

typedef struct hu_model {
	const char *name, *summary, *optimizer;
	const char *inputs;    /* arrays that it reads, as trainer/data/input.h describes them */
	const char *options;   /* names of the options that it reads, separated by blanks */
	double lr;
	size_t batch;
	void (*build)(hu_program *p, const hu_model_sizes *s, int eval);
} hu_model;

/* Finds a model by name; HU_EINVAL names the nearest. */
hu_status hu_model_find(const char *name, const hu_model **out);
const hu_model *hu_model_at(int i);           /* NULL past the last row */

/* HU_EINVAL says which of the sizes do not fit each other or the data. */
hu_status hu_model_check(const hu_model *m, const hu_model_sizes *s);

/* Builds the forward program "train" or, where `eval` is 1, "eval", which has the same parameters by name and whose
   batchnorm uses its running statistics. s->batch counts rows of the data. Inputs are input.NAME for each array that
   the row reads, and input.weight, a factor for each row of the batch. Outputs are loss.y, the weighted mean of the
   cross-entropy, and loss.p, the softmax; and loss.total, where training minimises another number than loss.y.
   Parameters are trainable state; running statistics are state. The caller frees the program. */
hu_program *hu_model_program(const hu_model *m, const hu_model_sizes *s, int eval);
#endif
