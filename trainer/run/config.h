/* SPDX-License-Identifier: Apache-2.0
   Everything that decides a training's numbers: the options of train, plan and
   compare, and the manifest's "config", from which verify and --resume start.
   Threads, SIMD level and output are not among it: they change no bit. */
#ifndef HU_TRAINER_CONFIG_H
#define HU_TRAINER_CONFIG_H

#include "lib/base/console/opt.h"
#include "lib/program/gemm.h"
#include "lib/program/passes.h"
#include "trainer/data/input.h"
#include "trainer/model/model.h"
#include "trainer/optim/optim.h"

typedef struct hu_config {
	/* As options: NULL, NaN or 0 where nothing was said. */
#define HU_OPTION_TEXT char *
#define HU_OPTION_WHOLE size_t
#define HU_OPTION_REAL double
#define OPTION(kind, member, name, min, max, argument, def, help) HU_OPTION_##kind member;
#include "trainer/run/options_model.def"
#define OPTION(kind, member, name, min, max, argument, def, help) HU_OPTION_##kind member;
#include "trainer/run/options_run.def"
	size_t seed;
	char *policy_text;
	/* What they mean: filled by hu_config_settle. */
	const hu_model *row;
	hu_policy policy;
	hu_optim_options optim;
	hu_scaling scaling;
} hu_config;

/* Texts of --help that a table's rows make, and the names of options_model.def's options, a blank between two. */
extern const char hu_options_model[], hu_options_data[], hu_options_batch[], hu_options_optimizer[], hu_options_lr[],
	hu_options_momentum[], hu_options_weight_decay[], hu_options_loss_scale[], hu_options_model_names[];

/* Reads those options that the table has and settles them. policy: NULL where hu_config_set_policy comes later. What
   has no effect in the training is taken all the same: trainer/run/idle.h refuses it. */
hu_status hu_config_from_args(hu_config *c, const hu_args *a, const char *policy);
/* The manifest's "config" and "policy". */
hu_status hu_config_from_json(hu_config *c, const json_t *manifest);
json_t *hu_config_to_json(const hu_config *c);
void hu_config_release(hu_config *c);
/* 1 where the word is "on" or nothing was said. */
int hu_config_on(const char *word);
/* Name of an option of the two lists that was given on the line, or NULL; the back end, which changes no bit, is not
   among them. */
const char *hu_config_given(const hu_args *a);
/* The same configuration with another policy; loss scaling follows it where none was asked for. */
hu_status hu_config_set_policy(hu_config *c, const char *policy);
/* Opens the data set that c names, which has what the model reads. dimensions_only: without values, where it can. */
hu_status hu_config_dataset(const hu_config *c, int dimensions_only, hu_dataset *ds);
/* Sizes of the model for this data, which must outlive them. */
hu_model_sizes hu_config_sizes(const hu_config *c, const hu_dataset *ds);
/* The first loss scale. */
double hu_config_first_scale(const hu_config *c);
#endif
