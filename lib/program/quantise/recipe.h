/* SPDX-License-Identifier: Apache-2.0
   Recipes of training whose products take operands in block formats. */
#ifndef HU_PROGRAM_QUANTISE_RECIPE_H
#define HU_PROGRAM_QUANTISE_RECIPE_H

#include "lib/base/status.h"
#include "lib/program/policy.h"

/* The operands of the three products, in the order of recipes.def. */
typedef enum hu_recipe_operand {
	HU_RECIPE_X,
	HU_RECIPE_W,
	HU_RECIPE_DGRAD_G,
	HU_RECIPE_DGRAD_W,
	HU_RECIPE_WGRAD_X,
	HU_RECIPE_WGRAD_G,
	HU_RECIPE_OPERANDS
} hu_recipe_operand;

typedef struct hu_block_recipe {
	const char *name, *blocks[HU_RECIPE_OPERANDS]; /* "": the operand is left as it is */
	int hadamard;
	const char *summary;
} hu_block_recipe;

/* Finds a recipe by name. HU_EINVAL names the nearest. */
hu_status hu_recipe_find(const char *name, const hu_block_recipe **out);
const hu_block_recipe *hu_recipe_row(int i); /* NULL past the last */

#endif
