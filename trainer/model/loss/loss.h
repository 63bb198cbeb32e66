/* SPDX-License-Identifier: Apache-2.0
   The table of losses (losses.def). */
#ifndef HU_TRAINER_LOSS_H
#define HU_TRAINER_LOSS_H

#include "lib/program/program.h"
#include "trainer/model/layer/sizes.h"

/* Appends a loss of the outputs x with labels and the rows' weights as loss.y, and as loss.p the softmax that it is
   made of; layer_loss.h says which shapes they have. */
typedef void hu_loss_build(hu_program *p, const hu_model_sizes *s, int x, int labels, int weight);

#define LOSS(name, id, views, reads, summary) hu_loss_build hu_loss_##id;
#include "trainer/model/loss/losses.def"
#undef LOSS

typedef struct hu_loss_row {
	const char *name;
	hu_loss_build *build;
	size_t views;
	const char *reads;
} hu_loss_row;

/* Returns the i-th loss, NULL past the last. */
const hu_loss_row *hu_loss_at(int i);
/* Returns the loss of this name, the default for NULL; NULL where there is none. */
const hu_loss_row *hu_loss_find(const char *name);
/* How many rows of the program's batch each row of the data makes: 2, neighbours, where the loss compares two views of
   it, as its row of losses.def says, else 1. */
size_t hu_loss_views(const hu_model_sizes *s);
#endif
