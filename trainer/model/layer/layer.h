/* SPDX-License-Identifier: Apache-2.0
   Layers, for the functions that build models. Each one appends its calls to p under the layer's name, makes its
   parameters, and returns the id of its output tensor. A tensor's name is LAYER.ROLE with these roles: w b gamma beta
   for parameters, rm rv for running statistics, xw for a product before its bias, y for the output. A layer's name is
   its kind and a number from 1: conv1, dense2. */
#ifndef HU_TRAINER_LAYER_H
#define HU_TRAINER_LAYER_H

#include "lib/program/program.h"
#include "trainer/model/layer/sizes.h"

/* Returns the input tensor input.NAME, [batch, ...], of the data set's array `name`. It is an activation, so a policy
   casts it. hu_layer_loss (layer_loss.h) adds the input of row weights. */
int hu_layer_input(hu_program *p, const hu_model_sizes *s, const char *name);
/* Returns the input tensor input.NAME of the data set's array of whole numbers, which no policy casts. */
int hu_layer_indices(hu_program *p, const hu_model_sizes *s, const char *name);
/* Returns the number of classes of the data set's array `name`. */
size_t hu_layer_classes(const hu_model_sizes *s, const char *name);
/* A dense layer: x taken as [rows, features] times w [features, out], plus b. */
int hu_layer_dense(hu_program *p, int number, int x, size_t out);
/* A convolution with SAME padding and w [kernel, kernel, channels, filters], plus b. */
int hu_layer_conv(hu_program *p, int number, int x, size_t kernel, size_t stride, size_t filters);
/* Batch normalisation per channel, with epsilon 1e-3 and momentum 0.99; eval uses the running statistics. */
int hu_layer_batchnorm(hu_program *p, int number, int x, int eval);
int hu_layer_relu(hu_program *p, int number, int x);
/* The dense layer and the batch normalisation under a name, the latter with its epsilon and momentum: a running
   statistic becomes momentum times itself plus 1 - momentum times the batch's. */
int hu_layer_linear(hu_program *p, const char *layer, int x, size_t out);
int hu_layer_normalise(hu_program *p, const char *layer, int x, double eps, double momentum, int eval);
/* Global average pooling to [batch, channels]. */
int hu_layer_pool(hu_program *p, int x);

/* What layers of other files are made of: tensors and calls under a layer's name. */
enum { HU_LAYER_TEXT = 64 };

/* A layer's name: a prefix, which may be "", _ and a word. */
typedef struct hu_layer_name { char s[HU_LAYER_TEXT]; } hu_layer_name;
hu_layer_name hu_layer_named(const char *prefix, const char *word);

/* Adds the trainable float32 tensor LAYER.ROLE, whose first values trainer/run/start.c chooses by its role. */
int hu_layer_parameter(hu_program *p, const char *layer, const char *role, hu_shape s);
/* Appends a forward call whose single output is the float32 activation LAYER.ROLE, and returns the output. */
int hu_layer_activation(hu_program *p, const char *op, const char *layer, const char *role, const int *in, int nin,
	const hu_attr *attr, int nattr);
/* Adds the bias LAYER.b to the product xw. */
int hu_layer_bias(hu_program *p, const char *layer, int xw);
#endif
