/* SPDX-License-Identifier: Apache-2.0
   Loads weights that other programs trained. */
#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/round.h"
#include "lib/store/run.h"
#include "lib/store/safetensors.h"
#include "trainer/run/start.h"

#include <stdlib.h>
#include <string.h>

/* The names that others use for our roles; torch is 1 where output features come first, as in PyTorch. */
static const struct { const char *role, *theirs; int torch;
} names[] = {
	{ "w", "kernel", 0 },
	{ "b", "bias", 0 },
	{ "rm", "moving_mean", 0 },
	{ "rv", "moving_variance", 0 },
	{ "w", "weight", 1 },
	{ "gamma", "weight", 1 },
	{ "beta", "bias", 1 },
	{ "rm", "running_mean", 1 },
	{ "rv", "running_var", 1 },
};

enum { NAMES = sizeof names / sizeof *names };

/* Finds LAYER.WORD, LAYER/WORD, or LAYER.WORD with a dot for each _ of the layer, as torchvision calls its layers. */
static const hu_stensor *
find_called(const hu_safetensors *s, const char *layer, const char *word)
{
	char name[HU_NAME + 32];
	const hu_stensor *e;
	size_t n = strlen(layer);

	snprintf(name, sizeof name, "%s.%s", layer, word);
	if ((e = hu_safetensors_find(s, name)))
		return e;
	name[n] = '/';
	if ((e = hu_safetensors_find(s, name)))
		return e;
	name[n] = '.';
	for (size_t i = 0; i < n; i++)
		if (name[i] == '_')
			name[i] = '.';
	return hu_safetensors_find(s, name);
}

static const hu_stensor *
find(const hu_safetensors *s, const hu_info *info, int *torch)
{
	const hu_stensor *e = hu_safetensors_find(s, info->name);

	*torch = 0;
	for (int i = 0; !e && i < NAMES; i++) {
		if (strcmp(names[i].role, info->role))
			continue;
		e = find_called(s, info->layer, names[i].theirs);
		*torch = names[i].torch;
	}
	return e;
}

/* Returns the index in the file of our element k (row-major): [in, out] from [out, in], [kh, kw, in, out] from [out,
   in, kh, kw]. */
static size_t
from_torch(hu_shape s, size_t k)
{
	size_t out = hu_last(s), in = s.d[s.rank - 2], o = k % out, i = k / out % in, tap = k / (out * in),
	       taps = hu_count(s) / (out * in);

	return (o * in + i) * taps + tap;
}

/* Returns the shape that the file's tensor, which has so many dimensions, must have for ours to be s. PyTorch's
   convolutions of signals have three: [out, in, taps]. */
static hu_shape
theirs_of(hu_shape s, int torch, int rank)
{
	if (torch && s.rank == 2)
		return hu_shape2(s.d[1], s.d[0]);
	if (torch && rank == 3 && s.rank == 4 && s.d[0] == 1)
		return hu_shape3(s.d[3], s.d[2], s.d[1]);
	return torch && s.rank == 4 ? hu_shape4(s.d[3], s.d[2], s.d[0], s.d[1]) : s;
}

static int
fits(const hu_stensor *e, hu_shape s, int torch)
{
	hu_shape want = theirs_of(s, torch, e->rank);

	if (e->rank != want.rank)
		return 0;
	for (int k = 0; k < want.rank; k++)
		if (e->shape[k] != want.d[k])
			return 0;
	return 1;
}

static int
format_of_dtype(const char *dtype, hu_format_id *f)
{
	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format_id as;
		if (!strcmp(hu_run_dtype((hu_format_id)i, &as), dtype)) {
			*f = as;
			return 1;
		}
	}
	return 0;
}

static const char *
shape_text(int rank, const size_t *d, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "[");

	for (int k = 0; k < rank && n < size; k++)
		n += (size_t)snprintf(out + n, size - n, k ? ", %zu" : "%zu", d[k]);
	if (n < size)
		snprintf(out + n, size - n, "]");
	return out;
}

/* Reports both shapes, in the order of the file's layout. */
static hu_status
misfit(const hu_safetensors *s, const hu_stensor *e, const hu_info *info, int torch)
{
	hu_shape want = theirs_of(info->shape, torch, e->rank);
	char have[128], need[128], ours[160] = "";

	if (strcmp(e->name, info->name))
		snprintf(ours, sizeof ours, "%s, which is this model's %.90s",
			torch && want.rank > 1 ? ", output features first" : "", info->name);
	return hu_fail(HU_EFILE, "%s: tensor %s has the shape %s and %s is needed%s", s->path, e->name,
		shape_text(e->rank, e->shape, have, sizeof have), shape_text(want.rank, want.d, need, sizeof need),
		ours);
}

static hu_status
take(hu_tensor *t, const hu_info *info, const hu_safetensors *s)
{
	int torch;
	const hu_stensor *e = find(s, info, &torch);
	hu_tensor theirs = { .n = t->n };
	hu_format f = hu_format_of(t->format);

	if (!e)
		return info->trainable ? hu_fail(HU_EFILE, "%s: no tensor %s (nor %s.weight, %s/kernel and the like)",
						 s->path, info->name, info->layer, info->layer)
				       : HU_OK;
	if (!fits(e, t->shape, torch))
		return misfit(s, e, info, torch);
	if (!format_of_dtype(e->dtype, &theirs.format))
		return hu_fail(HU_EFILE,
			"%s: tensor %s is of dtype %s, and weights are needed as F64, F32, F16, BF16, F8_E4M3 or "
			"F8_E5M2",
			s->path, e->name, e->dtype);
	if (!(theirs.data = hu_alloc(theirs.n * hu_element_size(theirs.format))))
		return hu_fail(HU_ENOMEM, "no memory for %s", info->name);
	hu_status st = hu_run_unpack(&theirs, e->data, e->bytes);
	for (size_t k = 0; st == HU_OK && k < t->n; k++) {
		double x = hu_get(&theirs, torch && t->shape.rank > 1 ? from_torch(t->shape, k) : k);
		if (!hu_isfinite(x))
			st = hu_fail(HU_EFILE, "%s: tensor %s: element %zu is not finite", s->path, e->name, k);
		else
			hu_put(t, k, hu_round(x, f, HU_RNE, 0, 0));
	}
	free(theirs.data);
	return st;
}

hu_status
hu_start_load(hu_tensor *t, const hu_program *p, const char *path)
{
	hu_safetensors s;
	hu_status st = HU_OK;

	HU_TRY(hu_safetensors_open(&s, path));
	for (int i = 0; i < p->nt && st == HU_OK; i++) {
		const char *role = p->t[i].role;
		if (p->t[i].trainable || (p->t[i].state && (!strcmp(role, "rm") || !strcmp(role, "rv"))))
			st = take(&t[i], &p->t[i], &s);
	}
	for (int i = 0; i < p->nt && st == HU_OK; i++) {
		int of = hu_start_averaged(p, i);
		if (of >= 0)
			memcpy(t[i].data, t[of].data, t[i].n * hu_element_size(t[i].format));
	}
	hu_safetensors_release(&s);
	return st;
}
