/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/layerwise.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/program/policy/pass_policy.h"
#include "trainer/run/build.h"

#include <stdlib.h>
#include <string.h>

/* The layers of the forward calls in their order: whether each has a product with weights, and whether the policy's
   format reaches one of its calls. */
typedef struct layer { char *name; int weighs, follows; } layer;

typedef struct layers {
	layer *of;
	int n, cap;
} layers;

static void
note_layer(layers *l, const hu_program *p, const hu_call *c, const hu_policy *policy)
{
	int k = 0;

	while (k < l->n && strcmp(l->of[k].name, c->layer))
		k++;
	if (k == l->n) {
		HU_GROW(l->of, l->n, l->cap);
		l->of[l->n++] = (layer){ hu_xstrdup(c->layer), 0, 0 };
	}
	l->of[k].follows |= hu_policy_reaches(policy, c);
	for (int i = 0; i < c->nin && c->op->cls == HU_CLASS_GEMM; i++)
		l->of[k].weighs |= p->t[c->in[i]].trainable;
}

/* The forward calls of a model in float32, where no cast stands between a weight and its product. */
static hu_status
list_layers(layers *l, const hu_config *c, const hu_policy *policy)
{
	hu_config plain = *c;
	hu_dataset data;
	hu_programs p;

	HU_TRY(hu_policy_parse("float32", &plain.policy));
	HU_TRY(hu_config_dataset(c, 1, &data));
	hu_model_sizes sizes = hu_config_sizes(&plain, &data);
	hu_status st = hu_build(&p, &plain, &sizes);
	for (int i = 0; st == HU_OK && i < p.eval->nc; i++)
		note_layer(l, p.eval, &p.eval->c[i], policy);
	if (st == HU_OK)
		hu_programs_release(&p);
	hu_dataset_release(&data);
	return st;
}

/* Writes the policy whose layers from `from` on stay in float32, by naming those, or all and then the others, whichever
   is shorter. Layers that no policy reaches follow those before them, and are refused where they are named. */
static hu_status
moved_up_to(hu_layerwise_policy *r, const layers *l, int from, const char *moved, const char *policy,
	const hu_policy *parsed)
{
	int rest = 0, moves = 0, most = HU_MAX_OVERRIDES;
	hu_str text;

	for (int i = 0; i < l->n; i++)
		*(i < from ? &moves : &rest) += l->of[i].follows;
	if (rest > most && moves + 1 > most)
		return hu_fail(HU_EINVAL,
			"--policy layerwise: %d layers are too many for the overrides of a policy; %d would do", l->n,
			2 * most - 1);
	hu_str_init(&text);
	hu_str_addf(&text, "%s", policy);
	if (rest > moves + 1)
		hu_str_addf(&text, ",layer:*=float32");
	for (int i = 0; i < l->n; i++)
		if (l->of[i].follows && (rest > moves + 1) == (i < from))
			hu_str_addf(&text, ",layer:%s=%s", l->of[i].name,
				i < from ? hu_dtype_name(parsed->compute) : "float32");
	*r = (hu_layerwise_policy){ hu_xprintf("+%s", moved), text.s };
	return HU_OK;
}

hu_status
hu_layerwise(hu_layerwise_policy **out, int *n, const hu_config *c, const char *policy)
{
	layers l = { NULL, 0, 0 };
	hu_policy parsed;
	const char *moved = NULL;
	hu_status st;

	HU_TRY(hu_policy_parse(policy, &parsed));
	if (parsed.noverride || strchr(policy, '/'))
		return hu_fail(
			HU_EINVAL, "--policy layerwise:%s: a policy without layers of its own is needed", policy);
	st = list_layers(&l, c, &parsed);
	*out = hu_xcalloc((size_t)l.n + 2, sizeof **out);
	*n = 0;
	if (st == HU_OK)
		(*out)[(*n)++] = (hu_layerwise_policy){ hu_xstrdup("float32"), hu_xstrdup("float32") };
	for (int i = 0; i <= l.n && st == HU_OK; i++) {
		if (i < l.n && !l.of[i].weighs)
			continue;
		if (moved) {
			st = moved_up_to(&(*out)[*n], &l, i, moved, policy, &parsed);
			*n += st == HU_OK;
		}
		moved = i < l.n ? l.of[i].name : NULL;
	}
	if (st == HU_OK && *n < 2)
		st = hu_fail(HU_EINVAL, "--policy layerwise: model %s has no layer with weights", c->model);
	for (int i = 0; i < l.n; i++)
		free(l.of[i].name);
	free(l.of);
	return st;
}
