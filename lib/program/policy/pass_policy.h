/* SPDX-License-Identifier: Apache-2.0
   The passes that put a policy's formats into a program: casts before differentiation, a recipe's blocks behind it. */
#ifndef HU_PROGRAM_PASS_POLICY_H
#define HU_PROGRAM_PASS_POLICY_H

#include "lib/program/policy/policy.h"
#include "lib/program/program.h"

/* Makes a new program in which every call runs in the formats that policy gives it. The casts this needs become calls
   of their own; a tensor is cast to a format only once. For forward programs. */
hu_status hu_pass_policy(const hu_program *p, const hu_policy *policy, hu_program **out);

/* Returns 1 for calls that run in the format that a policy has for their layer. Lists that name operators leave all
   others but products and attention in the format of their inputs; an override of a layer of such calls is refused. */
int hu_policy_reaches(const hu_policy *policy, const hu_call *c);

/* Returns the first call of attention that runs in a wider format than the policy has for its layer, and sets *runs to
   that; NULL where there is none. Formats of 8 bits or fewer, and tf32, are those of a product's operands. */
const hu_call *hu_policy_widened(const hu_policy *policy, const hu_program *p, hu_format_id *runs);

/* After differentiation, or of an evaluation program: makes the program anew, whose products with weights take operands
   that calls of block_cast quantised by the policy's recipe (quantise/recipe.h). Layers that an override computes in
   another format are left as they are. A policy without a recipe changes nothing. */
hu_status hu_pass_recipe(hu_program **p, const hu_policy *policy);
#endif
