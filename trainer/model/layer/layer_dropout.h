/* SPDX-License-Identifier: Apache-2.0
   Dropout. Its masks are functions of the seed, the step, the layer's name and the element's index, so that a resumed
   run and any number of micro-batches draw the same ones. */
#ifndef HU_TRAINER_LAYER_DROPOUT_H
#define HU_TRAINER_LAYER_DROPOUT_H

#include "trainer/model/layer/layer.h"

/* Appends the dropout of x with the option's probability and returns LAYER.drop; returns x itself where the probability
   is 0, and in evaluation. The first one adds the tensor dropout.clock, which holds the seed and the step. */
int hu_layer_dropout(hu_program *p, const hu_model_sizes *s, int eval, const char *layer, int x);

/* hu_dropout_begin makes dropout.clock a state; it goes behind the policy, which would give a state the variables'
   format. hu_dropout_end appends the call that advances the step. Both do nothing in a program without dropout. */
void hu_dropout_begin(hu_program *p);
void hu_dropout_end(hu_program *p);
#endif
