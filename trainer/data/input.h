/* SPDX-License-Identifier: Apache-2.0
   What a model reads, as its row of models.def says it: "x[n,...] labels[n]:class", one word for each input. n is the
   number of rows; each further word in the brackets is one dimension of a row, a number asks for that length, and "..."
   stands for one or more dimensions. ":class" asks for whole numbers below a number of classes. */
#ifndef HU_TRAINER_DATA_INPUT_H
#define HU_TRAINER_DATA_INPUT_H

#include "trainer/data/data.h"

/* One input. A row has rank dimensions, or at least rank where `more` is set. */
typedef struct hu_input {
	char name[32], shape[65];
	int rank, more, classes;
} hu_input;

/* Reads input i (from 0) of reads into *in; returns 0 past the last. reads comes from this program's own table, so a
   word that is wrong aborts. */
int hu_input_at(const char *reads, int i, hu_input *in);

/* HU_EINVAL names the first input of reads that ds lacks or has in another shape; model is the model's name, for the
   message. */
hu_status hu_input_check(const char *model, const char *reads, const hu_dataset *ds);
/* Returns the name of the first data set of datasets.def that needs no file and has what reads asks for; NULL where
   there is none. */
const char *hu_input_default(const char *reads);
/* Returns 1 where reads has an input of that name. */
int hu_input_named(const char *reads, const char *name);
#endif
