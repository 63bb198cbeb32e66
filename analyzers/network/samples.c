/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/samples.h"

#include "lib/base/console/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
is_constant(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->ninit; i++)
		if (!strcmp(g->init[i].name, name))
			return 1;
	return 0;
}

static hu_status
missing(const hu_samples *s, const char *path, const char *name)
{
	hu_str all;

	hu_str_init(&all);
	hu_npz_names(&all, &s->z, ", ");
	hu_status st = hu_fail(HU_EFILE, "%s: no array is called '%.120s' as the model's input is; there are: %s", path,
		hu_shown(name), all.s);
	hu_str_release(&all);
	return st;
}

static hu_status
read_all(hu_samples *s, const char *path)
{
	if (hu_npz_is(path))
		return hu_npz_read(&s->z, path);
	hu_npy *a = hu_xcalloc(1, sizeof *a);
	hu_status st = hu_npy_read(a, path);
	if (st != HU_OK) {
		free(a);
		return st;
	}
	s->z = (hu_npz){ 1, hu_xcalloc(1, sizeof(char *)), a };
	s->z.name[0] = hu_xstrdup("");
	return HU_OK;
}

static hu_status
take(hu_samples *s, const hu_onnx_graph *g, const char *path)
{
	size_t inputs = 0;

	for (size_t i = 0; i < g->nin; i++)
		inputs += !is_constant(g, g->in[i].name);
	s->array = hu_xcalloc(inputs + 1, sizeof *s->array);
	s->fixed = hu_xcalloc(inputs + 1, sizeof *s->fixed);
	for (size_t i = 0; i < g->nin; i++) {
		const hu_onnx_value *v = &g->in[i];
		if (is_constant(g, v->name))
			continue;
		const hu_npy *a = hu_npz_find(&s->z, v->name);
		if (!a && inputs == 1 && s->z.n == 1)
			a = &s->z.array[0];
		if (!a)
			return missing(s, path, v->name);
		int whole = v->rank >= 0 && a->rank == v->rank + 1;
		if (!a->rank || !a->count || (v->rank >= 0 && a->rank != v->rank && !whole))
			return hu_fail(HU_EFILE,
				"%s: the array for input '%.120s' has %d dimensions; %d are needed, the first one its "
				"rows",
				path, hu_shown(v->name), a->rank, v->rank ? v->rank : 1);
		if (s->narray && (a->shape[0] != s->n || whole != s->whole))
			return hu_fail(HU_EFILE, "%s: the array for input '%.120s' has %zu rows, and others have %zu",
				path, hu_shown(v->name), a->shape[0], s->n);
		s->n = a->shape[0];
		s->whole = whole;
		s->array[s->narray++] = a;
	}
	return s->narray ? HU_OK : hu_fail(HU_EFILE, "the model has no inputs, and nothing to judge");
}

hu_status
hu_samples_open(hu_samples *s, const hu_onnx_graph *g, const char *path)
{
	memset(s, 0, sizeof *s);
	HU_TRY(read_all(s, path));
	hu_status st = take(s, g, path);
	if (st != HU_OK)
		hu_samples_release(s);
	return st;
}

hu_status
hu_samples_labels(hu_samples *s, const char *labels)
{
	hu_npy file = { .data = NULL };
	const hu_npy *a = hu_npz_find(&s->z, labels);
	hu_status st = HU_OK;

	if (!a) {
		HU_TRY(hu_npz_pick(&file, labels));
		a = &file;
	}
	if (!a->rank || a->shape[0] != s->n)
		st = hu_fail(HU_EFILE, "%s: the labels have %zu rows, and the inputs %zu", labels,
			a->rank ? a->shape[0] : 0, s->n);
	s->nlabel = a->count / s->n;
	s->label = hu_xcalloc(a->count + 1, sizeof *s->label);
	for (size_t i = 0; i < a->count && st == HU_OK; i++) {
		s->label[i] = hu_npy_real(a, i);
		if (s->label[i] != floor(s->label[i]))
			st = hu_fail(HU_EFILE, "%s: label %zu is %g; classes are whole numbers from 0 on", labels, i,
				s->label[i]);
	}
	hu_npy_release(&file);
	return st;
}

void
hu_samples_release(hu_samples *s)
{
	hu_npz_release(&s->z);
	free(s->array);
	free(s->fixed);
	free(s->label);
	memset(s, 0, sizeof *s);
}

void
hu_samples_part(hu_samples *s, const hu_samples *from, size_t first, size_t n)
{
	hu_npy *own = hu_xcalloc(from->narray + 1, sizeof *own);

	*s = *from;
	s->z = (hu_npz){ .n = from->narray, .array = own };
	s->n = n;
	s->array = hu_xcalloc(from->narray + 1, sizeof *s->array);
	for (size_t i = 0; i < from->narray; i++) {
		size_t each = from->array[i]->count / from->n;
		own[i] = *from->array[i];
		own[i].data = (char *)own[i].data + first * each * own[i].width;
		own[i].shape[0] = n;
		own[i].count = n * each;
		s->array[i] = &own[i];
	}
	if (from->label)
		s->label = from->label + first * from->nlabel;
}

void
hu_samples_part_free(hu_samples *s)
{
	free(s->z.array);
	free(s->array);
	memset(s, 0, sizeof *s);
}

/* 1 where all rows hold one number. */
static int
same(const hu_npy *a)
{
	for (size_t i = 1; i < a->count; i++)
		if (hu_npy_real(a, i) != hu_npy_real(a, 0))
			return 0;
	return 1;
}

hu_status
hu_samples_given(
	const hu_samples *s, const hu_onnx_graph *g, size_t *batch, hu_given **given, size_t *ngiven, size_t *cap)
{
	size_t k = 0;

	*batch = s->whole ? 1 : *batch < s->n ? *batch : s->n;
	for (size_t i = 0; i < g->nin && !s->whole; i++)
		if (!is_constant(g, g->in[i].name) && g->in[i].rank > 0 && g->in[i].dim[0].n > 0)
			*batch = (size_t)g->in[i].dim[0].n;
	for (size_t i = 0; i < g->nin; i++) {
		const hu_onnx_value *v = &g->in[i];
		if (is_constant(g, v->name))
			continue;
		const hu_npy *a = s->array[k++];
		hu_given to = { v->name, a->rank - s->whole, { 0 }, NULL };
		if (to.rank > HU_RANK)
			return hu_fail(HU_EUNABLE, "input '%.120s' has %d dimensions; at most %d are possible",
				hu_shown(v->name), to.rank, HU_RANK);
		for (int j = 0; j < to.rank; j++)
			to.d[j] = a->shape[j + s->whole];
		if (!s->whole)
			to.d[0] = *batch;
		for (int j = 0; j < to.rank && v->rank >= 0; j++)
			if (v->dim[j].n > 0 && (size_t)v->dim[j].n != to.d[j])
				return hu_fail(HU_EFILE,
					"the array for input '%.120s' has %zu elements along dimension %d, and the "
					"model "
					"needs %lld",
					hu_shown(v->name), to.d[j], j, (long long)v->dim[j].n);
		/* A number an input, such as its length, decides what the model does; where all have one, that is
		 * known. */
		s->fixed[k - 1] = NAN;
		if ((!to.rank || (to.rank == 1 && !s->whole && hu_import_whole(v->type))) && same(a)) {
			s->fixed[k - 1] = hu_npy_real(a, 0);
			to.value = &s->fixed[k - 1];
		}
		if (!to.rank && !to.value)
			continue;
		HU_GROW(*given, *ngiven, *cap);
		(*given)[(*ngiven)++] = to;
	}
	return HU_OK;
}

hu_status
hu_samples_fit(const hu_samples *s, const hu_samples *data, const hu_onnx_graph *g, const hu_imported *m)
{
	size_t k = 0;

	for (size_t i = 0; i < g->nin; i++) {
		if (is_constant(g, g->in[i].name))
			continue;
		const hu_npy *a = s->array[k++];
		for (size_t j = 0; j < m->nin; j++) {
			int first = s->whole ? 0 : 1, same = a->rank - s->whole == m->in[j].rank;
			if (strcmp(m->in[j].name, g->in[i].name))
				continue;
			for (int d = first; d < m->in[j].rank && same; d++)
				same = a->shape[d + s->whole] == m->in[j].d[d];
			if (!same)
				return hu_fail(HU_EFILE,
					"the calibration array for input '%.120s' has another shape than --data has",
					hu_shown(g->in[i].name));
			double is = data->fixed[k - 1];
			for (size_t e = 0; is == is && e < a->count; e++)
				if (hu_npy_real(a, e) != is)
					return hu_fail(HU_EFILE,
						"the calibration array for input '%.120s' has %.17g, and --data have "
						"%.17g "
						"alone, which is part of the model then",
						hu_shown(g->in[i].name), hu_npy_real(a, e), is);
		}
	}
	return HU_OK;
}

static void
put_row(const hu_samples *s, size_t i, size_t row, hu_tensor *t, size_t at)
{
	const hu_npy *a = s->array[i];
	size_t each = a->count / s->n;
	hu_format f = hu_format_of(t->format);

	for (size_t k = 0; k < each; k++)
		hu_put(t, at * each + k, hu_round(hu_npy_real(a, row * each + k), f, HU_RNE, 0, 0));
}

void
hu_samples_fill(const hu_samples *s, size_t i, size_t first, size_t batch, hu_tensor *t)
{
	for (size_t r = 0; r < batch; r++)
		put_row(s, i, first + r < s->n ? first + r : s->n - 1, t, r);
}

void
hu_samples_fill_round(const hu_samples *s, size_t i, size_t first, size_t n, size_t batch, hu_tensor *t)
{
	for (size_t r = 0; r < batch; r++)
		put_row(s, i, (first + r) % n, t, r);
}
