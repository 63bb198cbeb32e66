/* SPDX-License-Identifier: Apache-2.0
   Everything that decides a training's numbers: the options of train, plan and
   compare, and the manifest's "config", from which verify and --resume start.
   Threads, SIMD level and output are not among it: they change no bit. */
#ifndef HU_TRAINER_CONFIG_H
#define HU_TRAINER_CONFIG_H

#include "lib/base/console/opt.h"
#include "lib/program/gemm.h"
#include "lib/program/pass/pass.h"
#include "trainer/data/augment.h"
#include "trainer/data/input.h"
#include "trainer/model/model.h"
#include "trainer/optim/optim.h"

typedef struct hu_config {
	/* The options' values; NULL, NaN or 0 where an option was not given. */
#define HU_OPTION_TEXT char *
#define HU_OPTION_WHOLE size_t
#define HU_OPTION_REAL double
#define OPTION(kind, member, name, min, max, argument, def, help) HU_OPTION_##kind member;
#include "trainer/run/options_model.def"
#define OPTION(kind, member, name, min, max, argument, def, help) HU_OPTION_##kind member;
#include "trainer/run/options_run.def"
	size_t seed;
	char *policy_text;
	/* What they mean; hu_config_settle fills this. */
	const hu_model *row;
	hu_policy policy;
	hu_optim_options optim;
	hu_scaling scaling;
	hu_augment augmentation;
	hu_all_reduce over_ranks;
} hu_config;

/* Texts of --help that are made from a table's rows; hu_options_model_names has the names of the options of
   options_model.def, separated by blanks. */
extern const char hu_options_model[], hu_options_data[], hu_options_preset[], hu_options_augment[], hu_options_batch[],
	hu_options_optimizer[], hu_options_lr[], hu_options_schedule[], hu_options_losses[], hu_options_loss[],
	hu_options_momentum[],
	hu_options_weight_decay[], hu_options_loss_scale[], hu_options_model_names[];

/* Settles what the options' values mean, as the last part of reading them. */
hu_status hu_config_settle(hu_config *c);
/* Reads the options that the command's table has, and settles them. policy is NULL where hu_config_set_policy is called
   later. An option without an effect is accepted here; trainer/run/idle.h refuses it. */
hu_status hu_config_from_args(hu_config *c, const hu_args *a, const char *policy);
/* Reads a manifest's "config" and "policy". */
hu_status hu_config_from_json(hu_config *c, const json_t *manifest);
/* The same for a run that is resumed. It takes the line's --backend where that is given: a run whose device is gone can
   continue elsewhere, since the bits are the same. */
hu_status hu_config_resumed(hu_config *c, const json_t *manifest, const hu_args *a);
json_t *hu_config_to_json(const hu_config *c);
void hu_config_release(hu_config *c);
/* Returns 1 where word is "on" or NULL. */
int hu_config_on(const char *word);
/* Returns the name of an option of the two .def lists that was given on the line, or NULL. The back end does not count,
   since it changes no bit. */
const char *hu_config_given(const hu_args *a);
/* Returns the option, or key OPTION:KEY, of what a manifest's "config" has by that name; the name where there is
   none. */
const char *hu_config_option(const char *name);
/* Changes the policy; loss scaling follows it where no rule was asked for. */
hu_status hu_config_set_policy(hu_config *c, const char *policy);
/* Opens the data set that c names and checks that it has what the model reads. dimensions_only: its values are not read
   where the data set can do without. */
hu_status hu_config_dataset(const hu_config *c, int dimensions_only, hu_dataset *ds);
/* Returns the model's sizes for this data set, which must outlive them. */
hu_model_sizes hu_config_sizes(const hu_config *c, const hu_dataset *ds);
/* Returns 1 where the model learns a class for each pixel, from the array "mask" and not from "labels". */
int hu_config_is_masked(const hu_config *c);
/* Returns how many steps a training on this data has: --steps, or those of its epochs; where a command has neither, of
   one epoch. */
size_t hu_config_steps(const hu_config *c, const hu_dataset *ds);
/* Returns the first loss scale. */
double hu_config_first_scale(const hu_config *c);
/* Returns the optimizer's options under c's policy, which says in which format Keras's read their constants. */
hu_optim_options hu_config_optim(const hu_config *c);
#endif
