/* SPDX-License-Identifier: Apache-2.0
   Reference models: builders of forward programs in float32. What precision does to
   them is a pass's business (lib/program), what moves their weights an optimizer's. */
#ifndef HU_TRAINER_MODEL_H
#define HU_TRAINER_MODEL_H

#include "lib/program/program.h"
#include "trainer/data/data.h"

typedef struct hu_model_sizes {
	size_t batch;
	const hu_dataset *data;  /* shapes and classes of the inputs that the model reads; their values are not read */
	double multiplier;       /* of filters or hidden units; at least one of each is kept */
} hu_model_sizes;

typedef struct hu_model {
	const char *name, *summary, *optimizer, *reads;
	double lr;
	size_t batch;
	void (*build)(hu_program *p, const hu_model_sizes *s, int eval);
} hu_model;

/* HU_EINVAL names the nearest. */
hu_status hu_model_find(const char *name, const hu_model **out);
const hu_model *hu_model_at(int i);           /* row I; NULL past the last */

/* The forward program "train" or, where `eval`, "eval": the same parameters by name, batchnorm
   with its running statistics. Inputs are input.NAME of each array that the row reads, and
   input.weight, a factor for each row; outputs loss.y, the weighted mean of the cross-entropy, and loss.p, the
   softmax. Parameters are trainable state; running statistics are state. */
hu_program *hu_model_program(const hu_model *m, const hu_model_sizes *s, int eval);

#define MODEL(id, optimizer, lr, batch, reads, summary)                                                                \
	void hu_model_##id(hu_program *p, const hu_model_sizes *s, int eval);
#include "trainer/model/models.def"
#undef MODEL
#endif
