/* SPDX-License-Identifier: Apache-2.0
   The sizes and variants that a model is built for: what the options of sizes.def, the batch and the data say. Layers,
   models and whoever asks for a model read them. */
#ifndef HU_TRAINER_SIZES_H
#define HU_TRAINER_SIZES_H

#include "trainer/data/data.h"

/* Sizes of a model; where a member from sizes.def is 0 or NULL, it is the model's own. */
typedef struct hu_model_sizes {
	size_t batch;
	const hu_dataset *data; /* shapes and classes of the inputs that the model reads; their values are not read */
	double multiplier;      /* multiplies the numbers of filters or hidden units; each is at least 1 */
#define HU_SIZE_TEXT const char *
#define HU_SIZE_WHOLE size_t
#define HU_SIZE_REAL double
#define KEY(kind, member, option, name, min, max, argument, def, help) HU_SIZE_##kind member;
#include "trainer/model/layer/sizes.def"
#undef KEY
} hu_model_sizes;
#endif
