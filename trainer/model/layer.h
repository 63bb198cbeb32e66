/* SPDX-License-Identifier: Apache-2.0
   Layers for the models' builders. Each appends its calls to P under the layer's name,
   makes its parameters, and returns the tensor it ends in. Tensors are named
   LAYER.ROLE: w b gamma beta rm rv parameters and statistics, xw a product before its
   bias, y the output. A layer's name is its kind and a number from 1: conv1, dense2. */
#ifndef HU_TRAINER_LAYER_H
#define HU_TRAINER_LAYER_H

#include "trainer/model/model.h"

/* The data set's array `name` as input.NAME, [batch, ...]: an activation, which a policy casts. The row weights come
   with hu_layer_loss. */
int hu_layer_input(hu_program *p, const hu_model_sizes *s, const char *name);
/* How many classes the data set's array `name` has. */
size_t hu_layer_classes(const hu_model_sizes *s, const char *name);
/* x as [rows, features] times w [features, out], plus b. */
int hu_layer_dense(hu_program *p, int number, int x, size_t out);
/* SAME padding, w [kernel, kernel, channels, filters], plus b. */
int hu_layer_conv(hu_program *p, int number, int x, size_t kernel, size_t stride, size_t filters);
/* Per channel; epsilon 1e-3, momentum 0.99. */
int hu_layer_batchnorm(hu_program *p, int number, int x, int eval);
int hu_layer_relu(hu_program *p, int number, int x);
/* Global average pooling: [batch, channels]. */
int hu_layer_pool(hu_program *p, int x);
/* Softmax cross-entropy of the logits x and the data set's array labels: loss.y and loss.p. */
void hu_layer_loss(hu_program *p, const hu_model_sizes *s, int x, const char *labels);
#endif
