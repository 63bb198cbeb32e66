/* SPDX-License-Identifier: Apache-2.0
   Losses of logits and labels. */
#ifndef HU_TRAINER_LAYER_LOSS_H
#define HU_TRAINER_LAYER_LOSS_H

#include "trainer/model/layer/layer.h"

/* Appends the loss that the options ask for, of the logits x [..., classes] with the data set's array of labels: as
   loss.y the softmax cross-entropy, soft Dice or mean squares, and as loss.p the softmax. Labels equal to
   ignore_index have no share in it. With NT-Xent x is [views, features], neighbours being views of one row, the
   labels are each view's partner's number, and loss.p [views, views] is the softmax of similarities. For cross-entropy
   the labels may have any shape with an element for each row of x, else x's without its last axis. */
void hu_layer_loss(hu_program *p, const hu_model_sizes *s, int x, const char *labels);
/* How many outputs the loss takes of each row: as many as the array of labels has classes, or for NT-Xent 128, times
   width. */
size_t hu_layer_outputs(const hu_model_sizes *s, const char *labels);
/* Binary cross-entropy of the logits x, one a row, with the data set's array labels; appends loss.y (the loss) and
   loss.p (the probability of label 1). */
void hu_layer_binary_loss(hu_program *p, const hu_model_sizes *s, int x, const char *labels);
#endif
