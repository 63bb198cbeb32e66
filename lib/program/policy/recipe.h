/* SPDX-License-Identifier: Apache-2.0
   Recipes of training whose products take operands in block formats. */
#ifndef HU_PROGRAM_QUANTISE_RECIPE_H
#define HU_PROGRAM_QUANTISE_RECIPE_H

#include "lib/base/status.h"
#include "lib/program/policy/policy.h"

/* The ends of the names of a tensor's states: its delayed scale, 1 at first, and the largest magnitudes before. */
#define HU_RECIPE_SCALE "_fp8_scale"
#define HU_RECIPE_HISTORY "_fp8_amax"
/* The state (seed, step) by which signs are drawn, and what is added to it in a step, (0, 1). */
#define HU_RECIPE_CLOCK "hadamard.clock"
#define HU_RECIPE_TICK "hadamard.tick"

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
	int hadamard; /* the products whose two operands are transformed, as bits: 1 y, 2 dx, 4 dw */
	int history;  /* scales follow from the magnitudes of so many steps before; 0: from the values at hand */
	int margin, recent;
	int drawn;    /* the transforms' signs are drawn, anew in each step, by the state HU_RECIPE_CLOCK */
	const char *summary;
} hu_block_recipe;

/* Finds a recipe by name. HU_EINVAL names the nearest. */
hu_status hu_recipe_find(const char *name, const hu_block_recipe **out);
const hu_block_recipe *hu_recipe_row(int i); /* NULL past the last */

/* The keys of a policy that change its recipe: forward_x, forward_w, dgrad_g, dgrad_w, wgrad_x and wgrad_g name the
   block format of an operand, or none; hadamard the products whose operands are transformed (none, or forward, dgrad
   and wgrad, joined by +), signs whether the transforms' signs are fixed or drawn; high the layers that are left as
   they are (none, first, last, first+last); history, margin and amax (max or most_recent) how delayed scales are found.
   HU_EINVAL says which values there are. */
int hu_recipe_is_key(const char *key);
hu_status hu_recipe_set(hu_policy *p, const char *key, const char *value);
/* HU_EINVAL where a key is set and no recipe that it would change, or none with delayed scales. */
hu_status hu_recipe_check(const hu_policy *p);
/* Adds the keys that are set. */
void hu_recipe_to_json(const hu_policy *p, json_t *j);
/* The policy's recipe with its keys; *out points into p and the table. */
hu_status hu_recipe_of(const hu_policy *p, hu_block_recipe *out);

#endif
