/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/run/start.h"

#include "lib/base/hash.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/program/policy/recipe.h"

#include <math.h>
#include <string.h>

static void
fill(hu_tensor *t, double x)
{
	for (size_t k = 0; k < t->n; k++)
		hu_put(t, k, x);
}

static int
ends(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static void
glorot(hu_tensor *t, const char *name, uint64_t seed)
{
	hu_format f = hu_format_of(t->format);
	size_t out = hu_last(t->shape), in = t->shape.d[t->shape.rank - 2], taps = t->n / (in * out);
	double limit = sqrt(6.0 / ((double)taps * ((double)in + (double)out)));
	char stream[HU_NAME + 8];

	snprintf(stream, sizeof stream, "init/%s", name);
	uint32_t s = hu_fnv1a32(stream);
	for (size_t k = 0; k < t->n; k++)
		hu_put(t, k, hu_round(limit * (2 * hu_uniform(hu_random_at(seed, s, 0, k)) - 1), f, HU_RNE, 0, 0));
}

/* Returns x rounded once to the tensor's format. */
static double
in_format(const hu_tensor *t, double x)
{
	return hu_round(x, hu_format_of(t->format), HU_RNE, 0, 0);
}

int
hu_start_averaged(const hu_program *p, int i)
{
	static const char end[] = "_" HU_OPTIM_EMA;
	char of[HU_NAME];

	if (!p->t[i].state || !ends(p->t[i].name, end))
		return -1;
	snprintf(of, sizeof of, "%.*s", (int)(strlen(p->t[i].name) + 1 - sizeof end), p->t[i].name);
	int k = hu_program_find(p, of);
	return k >= 0 && p->t[k].trainable ? k : -1;
}

void
hu_start_state(hu_tensor *t, const hu_program *p, int i, const hu_config *c)
{
	const hu_info *info = &p->t[i];
	int of = hu_start_averaged(p, i);

	if (of >= 0) {
		hu_start_state(t, p, of, c);
		return;
	}
	if (!strcmp(info->role, "w"))
		glorot(t, info->name, c->seed);
	else if (!strcmp(info->role, "gamma") || !strcmp(info->role, "rv"))
		fill(t, 1);
	else
		fill(t, 0);
	if (ends(info->name, HU_RECIPE_SCALE))
		fill(t, 1);
	if (!strcmp(info->name, "scaler.scale"))
		hu_put(t, 0, in_format(t, hu_config_first_scale(c)));
	if (!strcmp(info->name, "optim.clock")) { /* holds t, beta1^t, beta2^t */
		hu_put(t, 1, 1);
		hu_put(t, 2, 1);
	}
	if (!strcmp(info->name, "dropout.clock") || !strcmp(info->name, HU_RECIPE_CLOCK))
		hu_put(t, 0, (double)c->seed);
	if (!strcmp(info->name, "dropout.tick") || !strcmp(info->name, HU_RECIPE_TICK))
		hu_put(t, 1, 1);
}
