/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/written.h"

#include "analyzers/advise/typed.h"
#include "analyzers/validate/against/against.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>
#include <unistd.h>

static hu_status
type(hu_typed *t, const hu_written *w, const hu_assignment *a)
{
	const hu_trials *trials = &w->s->trials;
	hu_network view = hu_trials_view(trials, w->net, 0);
	hu_status st = HU_OK;
	hu_variant v;

	hu_search_variant(w->s, a, &v);
	v.some = w->net->each;
	if (!w->net->each)
		st = hu_typed_add(t, &w->net->m, &v, w->net->ranges.range);
	for (size_t i = 0; w->net->each && i < view.s.n && st == HU_OK; i++) {
		hu_imported m;
		st = hu_network_answered(&view, &m, &trials->each[0].answers[i], &view.onnx, HU_TYPING_FLOAT32);
		if (st != HU_OK)
			break;
		hu_range *range = hu_each_ranges(&view, &m);
		st = hu_typed_add(t, &m, &v, range);
		free(range);
		hu_imported_release(&m);
	}
	hu_variant_release(&v);
	return st;
}

hu_status
hu_written_file(const hu_written *w, const hu_assignment *a, const char *path)
{
	hu_typed *t = NULL;

	hu_status st = hu_typed_open(&t, &w->net->onnx);
	if (st == HU_OK)
		st = type(t, w, a);
	if (st == HU_OK)
		st = hu_typed_write(t, path);
	hu_typed_free(t);
	return st;
}

static int
has_codes(const hu_written *w, const hu_assignment *a)
{
	for (size_t i = 0; i < w->s->n; i++) {
		const hu_scheme *s = a->choice[i] ? &w->s->scheme[a->choice[i] - 1] : NULL;
		if (s && s->kind == HU_SCHEME_INTEGER && s->activations != HU_ACTIVATIONS_NONE)
			return 1;
	}
	return 0;
}

/* Runs the file on both halves as the runtime does that it is for. */
static hu_status
run(const hu_written *w, const char *path, int *keeps)
{
	hu_against file;
	hu_variants list = { .v = NULL };

	hu_status st = hu_against_open(&file, path, w->net, w->s->typing, w->s->fused, w->s->pairs16);
	if (st == HU_OK && w->net->each)
		hu_variants_add_file(&list, "model.onnx", &file.onnx, w->s->typing);
	else if (st == HU_OK)
		hu_variants_add_model(&list, "model.onnx", &file.m);
	for (int h = 0; h < 2 && st == HU_OK && *keeps; h++) {
		hu_effect e;
		st = hu_trials_run(&e, NULL, &w->s->trials, w->net, &list.v[0], h);
		if (st == HU_OK) {
			*keeps = hu_search_keeps(w->s, &e, h);
			hu_effect_release(&e);
		}
	}
	hu_variants_release(&list);
	hu_against_release(&file);
	return st;
}

hu_status
hu_written_keeps(void *of, const hu_assignment *a, int *keeps)
{
	hu_written *w = of;

	if (!has_codes(w, a))
		return HU_OK;
	w->made |= !hu_exists(w->dir);
	HU_TRY(hu_make_dirs(w->dir));
	char *path = hu_xprintf("%s/model.onnx.%d.try", w->dir, hu_ranks_rank());
	hu_status st = hu_written_file(w, a, path);
	if (st == HU_OK)
		st = run(w, path, keeps);
	(void)unlink(path);
	free(path);
	return st == HU_EUNABLE ? HU_OK : st;
}
