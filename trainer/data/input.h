/* SPDX-License-Identifier: Apache-2.0
   What a model reads, as its row says it: "x[n,...] labels[n]:class", one word an input. n is the number of rows, each
   further word between the brackets one dimension of a row, "..." one or more of them; ":class" asks for whole numbers
   below a number of classes. */
#ifndef HU_TRAINER_DATA_INPUT_H
#define HU_TRAINER_DATA_INPUT_H

#include "trainer/data/data.h"

/* One of the inputs. rank: dimensions of a row, at least so many where more is set. */
typedef struct hu_input {
	char name[32], shape[65];
	int rank, more, classes;
} hu_input;

/* Input i (from 0) of reads; 0 past the last. reads is a row of this program: a wrong word aborts. */
int hu_input_at(const char *reads, int i, hu_input *in);
/* 1 where rows of shape are what `in` asks for. */
int hu_input_fits(const hu_input *in, hu_shape shape);

/* HU_EINVAL names the first input of reads, which the model `model` reads, that ds lacks or has otherwise. */
hu_status hu_input_check(const char *model, const char *reads, const hu_dataset *ds);
#endif
