/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/quantise/version.h"

#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/round.h"
#include "lib/program/policy/recipe.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_version_of_policy(hu_version *v, const hu_program *p, const hu_tensor *constant, const hu_policy *policy)
{
	hu_block_recipe recipe;

	memset(v, 0, sizeof *v);
	if (*policy->recipe && hu_recipe_of(policy, &recipe) == HU_OK && recipe.history)
		return hu_fail(HU_EINVAL,
			"recipe=%s: its scales follow from the training steps before; recipe=fp8:current finds them in "
			"the values at hand",
			recipe.name);
	if (*policy->recipe && policy->blocks.drawn)
		return hu_fail(HU_EINVAL,
			"recipe=%s: signs=drawn draws signs in the steps of a training; leave it out", policy->recipe);
	hu_status st = hu_pass_policy(p, policy, &v->p);
	if (st == HU_OK)
		st = hu_pass_recipe(&v->p, policy);
	if (st != HU_OK) {
		hu_version_release(v);
		return st;
	}
	v->constant = hu_xcalloc((size_t)v->p->nt + 1, sizeof *v->constant);
	v->owned = hu_xcalloc((size_t)v->p->nt + 1, 1);
	v->bits = hu_xcalloc((size_t)v->p->nt + 1, sizeof *v->bits);
	v->map = hu_xcalloc((size_t)p->nt + 1, sizeof *v->map);
	for (int i = 0; i < p->nt; i++) {
		v->map[i] = hu_program_find(v->p, p->t[i].name);
		if (v->map[i] >= 0)
			v->constant[v->map[i]] = constant[i];
	}
	return HU_OK;
}

void
hu_version_release(hu_version *v)
{
	for (int i = 0; v->owned && i < v->p->nt; i++)
		if (v->owned[i])
			free(v->constant[i].data);
	free(v->constant);
	free(v->owned);
	free(v->map);
	free(v->bits);
	free(v->notes);
	hu_program_free(v->p);
	memset(v, 0, sizeof *v);
}

void
hu_version_load(const hu_version *v, hu_tensor *t)
{
	for (int i = 0; i < v->p->nt; i++) {
		const hu_tensor *from = &v->constant[i];
		hu_tensor *to = &t[i];
		hu_format f = hu_format_of(to->format);
		if (!from->data || !to->data || from->data == to->data)
			continue;
		if (from->format == HU_FP32 && !hu_is_wide(to->format))
			hu_bulk_round(to->data, from->data, to->n, to->format, HU_RNE, 0, NULL, 0);
		else
			for (size_t k = 0; k < to->n; k++)
				hu_put(to, k, hu_round(hu_get(from, k), f, HU_RNE, 0, 0));
	}
}
