/* SPDX-License-Identifier: Apache-2.0
   What the files of layers (layer.c, layer_NAME.c) share: tensors and calls under a layer's name. */
#ifndef HU_TRAINER_LAYER_PARTS_H
#define HU_TRAINER_LAYER_PARTS_H

#include "trainer/model/layer/layer.h"

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
