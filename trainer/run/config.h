/* SPDX-License-Identifier: Apache-2.0
   Everything that decides a training's numbers: the options of train, plan and
   compare, and the manifest's "config", from which verify and --resume start.
   Threads, SIMD level and output are not among it: they change no bit. */
#ifndef HU_TRAINER_CONFIG_H
#define HU_TRAINER_CONFIG_H

#include "lib/base/console/opt.h"
#include "lib/program/gemm.h"
#include "lib/program/passes.h"
#include "trainer/data/data.h"
#include "trainer/model/model.h"
#include "trainer/optim/optim.h"

typedef struct hu_config {
	/* As options: NULL, NaN or 0 where nothing was said. */
	char *model, *data, *policy_text, *optimizer, *loss_scale, *accumulate, *init, *backend, *gemm, *trace_steps,
		*trace, *count, *fuse, *graph;
	double lr, momentum, weight_decay, beta1, beta2, eps, width, loss_weight, trace_cap;
	double init_scale, growth, backoff, interval, floor, cap, hysteresis;
	size_t size, channels, train, eval, split, data_seed, batch, epochs, steps, seed, checkpoint_every;
	/* What they mean: filled by hu_config_settle. */
	const hu_model *row;
	hu_policy policy;
	hu_optim_options optim;
	hu_scaling scaling;
} hu_config;

/* Rows of an option table. The names are the manifest's keys too. */
#define HU_CONFIG_MODEL_OPTS \
	{ "model", "NAME", "mlp", "mlp or convnet" }, \
	{ "width", "X", "1", "multiplies hidden units or filters" }, \
	{ "data", "SET", "digits", "digits (generated) or idx:DIR (the MNIST family's files)" }, \
	{ "size", "N", NULL, "digits: height and width in pixels [28]" }, \
	{ "channels", "N", NULL, "digits: colour channels, all alike [1]" }, \
	{ "train", "N", NULL, "digits: images to train on [10000]" }, \
	{ "eval", "N", NULL, "digits: images to evaluate on [2000]" }, \
	{ "data-seed", "N", "0", "digits: seed of the images, apart from the training's" }, \
	{ "split", "N", NULL, "idx: the first N train, the rest evaluate" }, \
	{ "batch", "N", NULL, "images a step [the model's: 64]" }, \
	{ "optimizer", "NAME", NULL, "sgd, adam or adamw [the model's: mlp adamw, convnet adam]" }, \
	{ "lr", "X", NULL, "learning rate [the optimizer's: 1e-3; sgd 1e-2]" }, \
	{ "momentum", "X", NULL, "of sgd [0]" }, \
	{ "weight-decay", "X", NULL, "of adamw and sgd [adamw 0.01, sgd 0]" }, \
	{ "beta1", "X", "0.9", "of adam and adamw" }, \
	{ "beta2", "X", "0.999", "of adam and adamw" }, \
	{ "eps", "X", "1e-7", "of adam and adamw, rounded to the variables' format" }, \
	{ "loss-scale", "RULE", NULL, "none, dynamic (PyTorch's), keras, apex, deepspeed, static:S [dynamic for float16 over float32 variables, else none]" }, \
	{ "init-scale", "S", NULL, "first loss scale [the rule's]" }, \
	{ "growth-factor", "X", NULL, "of a dynamic loss scale [2]" }, \
	{ "backoff-factor", "X", NULL, "of a dynamic loss scale [0.5]" }, \
	{ "growth-interval", "N", NULL, "finite steps before it grows [the rule's]" }, \
	{ "scale-floor", "S", NULL, "the loss scale never goes below [the rule's]" }, \
	{ "scale-cap", "S", NULL, "nor above [the rule's]" }, \
	{ "hysteresis", "N", NULL, "overflows before it shrinks, of deepspeed [the rule's]" }, \
	{ "loss-weight", "W", "1", "multiplies the loss; divided out with the scale" }, \
	{ "accumulate", "SUM", NULL, "summation model of every product, e.g. fma,acc=fp16 or chunk:64 [the policy's]" }
#define HU_CONFIG_RUN_OPTS \
	{ "epochs", "E", "3", "passes over the training images" }, \
	{ "steps", "S", NULL, "stop after S steps instead" }, \
	{ "init", "FILE", NULL, "start from the weights in a safetensors file" }, \
	{ "backend", "NAME", "cpu", "where the program runs" }, \
	{ "gemm", "WAY", "auto", hu_gemm_help }, \
	{ "fuse", "on|off", "on", "on a device: several calls in one pass over memory. Changes no bit" }, \
	{ "graph", "on|off", "on", "on a device: a step is recorded once and launched whole. Changes no bit" }, \
	{ "trace-steps", "LIST", "first,last", "steps recorded whole: numbers from 0, first, last, or none" }, \
	{ "trace", "PATTERN", "*", "tensors recorded, shell patterns separated by commas" }, \
	{ "trace-cap", "BYTES", "2^30", "refuse to begin where the trace would be larger" }, \
	{ "count", "PATTERN", NULL, "tensors whose exponents are counted every step, and of casts what they lost: shell patterns separated by commas [none]" }, \
	{ "checkpoint-every", "N", NULL, "steps between checkpoints [an epoch]" }

/* Reads those options that the table has and settles them. POLICY: NULL where hu_config_set_policy comes later. What
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
/* Opens the data set that C names; DIMENSIONS_ONLY: as few images as it takes to know their size. */
hu_status hu_config_dataset(const hu_config *c, int dimensions_only, hu_dataset *ds);
/* Sizes of the model for these images. */
hu_model_sizes hu_config_sizes(const hu_config *c, const hu_dataset *ds);
/* The first loss scale. */
double hu_config_first_scale(const hu_config *c);
#endif
