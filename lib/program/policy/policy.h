/* SPDX-License-Identifier: Apache-2.0
   A precision policy: compute format, variable format, cast list, overrides. Presets are rows of policies.def; a policy
   given as text or a file fills the same struct. */
#ifndef HU_PROGRAM_POLICY_H
#define HU_PROGRAM_POLICY_H

#include "lib/number/format.h"

#include <jansson.h>

/* Which calls run in the compute format:
   keras every layer casts its inputs to compute; norms work in float32 internally
   autocast matrix products run in compute, layernorm in float32, the rest in their inputs' formats
   apex as autocast, with gelu in float32
   all everything, also the parameters of norms */
typedef enum hu_cast_list { HU_LIST_KERAS, HU_LIST_AUTOCAST, HU_LIST_APEX, HU_LIST_ALL } hu_cast_list;

/* Fake quantisation of the operands of products with weights, in training as well (quantise/fake.h): weights to int8
   with a scale for each output channel, or one for all, and activations with one scale. */
typedef enum hu_fake { HU_FAKE_NONE, HU_FAKE_CHANNEL, HU_FAKE_TENSOR } hu_fake;

enum { HU_MAX_OVERRIDES = 32, HU_POLICY_OPERANDS = 6 };

/* Keys of recipes (quantise/recipe.h). operand: the block format of each operand, in the order of recipes.def; "none"
   leaves it as it is, and nothing stands for the row's. hadamard: 1 + the products whose two operands are transformed,
   as bits (1 y, 2 dx, 4 dw); 0: the row's. drawn: the transforms' signs are drawn in each step. high: layers left as
   they are, 1 the first with a product, 2 the last. Of delayed scales: how many steps' largest magnitudes are
   remembered (0: the row's), the margin, and whether the newest alone counts. */
typedef struct hu_policy_blocks {
	char operand[HU_POLICY_OPERANDS][40];
	int hadamard, high, history, margin, recent, drawn;
} hu_policy_blocks;

typedef struct hu_policy {
	char name[96];
	hu_format_id compute, variable,
		grad; /* grad is the format of gradients that enter a product if compute has 8 bits */
	hu_cast_list list;
	hu_fake fake;            /* where compute is float32; else none */
	int casts_constants;     /* Keras's optimizers round their constants to variable */
	char recipe[24];         /* of products in block formats; empty: none */
	hu_policy_blocks blocks; /* what is otherwise than in the recipe's row */
	int dynamic;             /* loss scaling is dynamic unless an option says otherwise */
	char accumulate[96];     /* a summation model; empty for the default */
	int noverride;
	struct {
		char pattern[48];
		hu_format_id compute;
	} override[HU_MAX_OVERRIDES];
} hu_policy;

/* Reads a preset's name, a list such as "compute=float16,variable=float64,list=autocast,layer:conv*=float32", or a JSON
   file's path (doc/formats.md). HU_EINVAL or HU_EFILE says what is wrong. */
hu_status hu_policy_parse(const char *text, hu_policy *out);
json_t *hu_policy_to_json(const hu_policy *p);
hu_status hu_policy_from_json(const json_t *j, hu_policy *out);
/* The compute format of a layer, overrides applied. */
hu_format_id hu_policy_compute(const hu_policy *p, const char *layer);
/* Name and summary of row i; NULL past the last. */
const char *hu_policy_name(int i);
const char *hu_policy_summary(int i);
/* A format's name as Keras users know it, "float16" for fp16. */
const char *hu_dtype_name(hu_format_id f);
#endif
