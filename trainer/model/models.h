/* SPDX-License-Identifier: Apache-2.0
   The functions that a row of models.def names, one file each: hu_model_NAME appends the calls of the model's forward
   program to p, and a few say beforehand whether sizes fit. The table itself is model.h's. */
#ifndef HU_TRAINER_MODELS_H
#define HU_TRAINER_MODELS_H

#include "lib/program/program.h"
#include "trainer/model/layer/sizes.h"

#define MODEL(id, optimizer, lr, batch, inputs, options, summary)                                                      \
	void hu_model_##id(hu_program *p, const hu_model_sizes *s, int eval);
#include "trainer/model/models.def"
#undef MODEL

/* HU_EINVAL where a U-Net would halve images until nothing is left. */
hu_status hu_unet_check(const hu_model_sizes *s);
#endif
