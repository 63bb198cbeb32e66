/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/samples.h"

#include "lib/base/show.h"
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

/* The number of rows: those of the first array whose input has no dimension k*name. One where every input of the model
   is there once. */
static size_t
rows_of(const hu_samples *s)
{
	size_t n = 1;

	for (size_t i = s->narray; i-- > 0;)
		if (!s->shared[i])
			n = s->array[i]->shape[0] / hu_samples_times(s->input[i]);
	for (size_t i = 0; i < s->narray; i++)
		if (!s->shared[i] && hu_samples_times(s->input[i]) == 1)
			return s->array[i]->shape[0];
	return n;
}

/* 1 where the array A has the whole shape of the model's input V, of which SIZES says that all are fixed. */
static int
is_whole(const hu_onnx_value *v, const hu_npy *a, int *sizes)
{
	int whole = v->rank >= 0 && a->rank == v->rank;

	*sizes = v->rank >= 0;
	for (int j = 0; j < v->rank; j++) {
		*sizes &= v->dim[j].n > 0;
		whole &= v->dim[j].n <= 0 || (j < a->rank && (size_t)v->dim[j].n == a->shape[j]);
	}
	return whole;
}

/* Which arrays are the model's for every input alike: a number; and where another array has rows, one of which the
   command line says that inputs lie along no axis, and one with all the sizes that the model fixes. Where its first
   size is also the number of rows that arrays of inputs with an open size have, it is rows as they are, unless one of
   these inputs leaves its first size open: so many inputs as there are then run together, and the model fixes nothing
   but that array's own size. */
static void
share(hu_samples *s)
{
	char *whole = hu_xcalloc(s->narray + 1, 1);
	int rows = 0, open = 0;

	for (size_t i = 0; i < s->narray; i++) {
		const hu_onnx_value *v = s->input[i];
		int sizes, said = hu_samples_axis_of(s->said, v->name, -2), is = is_whole(v, s->array[i], &sizes);
		whole[i] = (char)(is && sizes && said == -2);
		s->shared[i] = (char)(!s->array[i]->rank || (is && (said == -1 || whole[i])));
		rows |= !s->shared[i];
		open |= !s->shared[i] && is && v->rank > 0 && v->dim[0].n <= 0;
	}
	size_t n = rows_of(s); /* of those that cannot be shared */
	for (size_t i = 0; i < s->narray; i++)
		if (!rows || (!open && whole[i] && s->array[i]->rank && s->array[i]->shape[0] == n))
			s->shared[i] = !s->array[i]->rank;
	free(whole);
}

/* The array of the input V. */
static hu_status
take_one(hu_samples *s, const hu_onnx_value *v, size_t inputs, const char *path)
{
	const hu_npy *a = hu_npz_find(&s->z, v->name);

	if (!a && inputs == 1 && s->z.n == 1)
		a = &s->z.array[0];
	if (!a)
		return missing(s, path, v->name);
	if (a->rank && !a->shape[0])
		return hu_fail(HU_EFILE, "%s: the array for input '%.120s' has no rows", path, hu_shown(v->name));
	if ((!a->rank && v->rank > 0) || (a->rank && v->rank >= 0 && a->rank != v->rank && a->rank != v->rank + 1))
		return hu_fail(HU_EFILE,
			"%s: the array for input '%.120s' has %d dimensions; %d are needed, the first one its rows",
			path, hu_shown(v->name), a->rank, v->rank > 0 ? v->rank : 1);
	s->input[s->narray] = v;
	s->array[s->narray++] = a;
	return HU_OK;
}

static hu_status
take(hu_samples *s, const hu_onnx_graph *g, const char *path)
{
	size_t inputs = 0;

	for (size_t i = 0; i < g->nin; i++)
		inputs += !is_constant(g, g->in[i].name);
	s->array = hu_xcalloc(inputs + 1, sizeof *s->array);
	s->input = hu_xcalloc(inputs + 1, sizeof *s->input);
	s->fixed = hu_xcalloc(inputs + 1, sizeof *s->fixed);
	s->axis = hu_xcalloc(inputs + 1, sizeof *s->axis);
	s->run = hu_xcalloc(inputs + 1, sizeof *s->run);
	s->shared = hu_xcalloc(inputs + 1, 1);
	for (size_t i = 0; i < g->nin; i++)
		if (!is_constant(g, g->in[i].name))
			HU_TRY(take_one(s, &g->in[i], inputs, path));
	if (!s->narray)
		return hu_fail(HU_EFILE, "the model has no inputs, and nothing to judge");
	share(s);
	s->n = rows_of(s);
	(void)hu_samples_axes(s, 0);
	for (size_t i = 0; i < s->narray; i++) {
		if (s->shared[i])
			continue;
		size_t have = s->array[i]->shape[0], each = s->array[i]->rank == s->input[i]->rank ? s->run[i] : 1;
		if (!s->n || have != each * s->n)
			return hu_fail(HU_EFILE,
				"%s: the array for input '%.120s' has %zu rows, and others have %zu; each row, along "
				"an array's first axis, is one input",
				path, hu_shown(s->input[i]->name), have, s->n);
	}
	return HU_OK;
}

hu_status
hu_samples_open(hu_samples *s, const hu_onnx_graph *g, const char *path, const hu_batch_axes *said)
{
	*s = (hu_samples){ .said = said };
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
	for (int j = 1; j < a->rank && s->label_rank < HU_RANK; j++)
		s->label_d[s->label_rank++] = a->shape[j];
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

size_t
hu_samples_each(const hu_samples *s, size_t i)
{
	return s->array[i]->count / (s->shared[i] ? 1 : s->n);
}

void
hu_samples_release(hu_samples *s)
{
	hu_npz_release(&s->z);
	free(s->array);
	free(s->input);
	free(s->axis);
	free(s->run);
	free(s->shared);
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
		size_t each = hu_samples_each(from, i);
		own[i] = *from->array[i];
		s->array[i] = &own[i];
		if (from->shared[i])
			continue;
		own[i].data = (char *)own[i].data + first * each * own[i].width;
		own[i].shape[0] = own[i].shape[0] / from->n * n;
		own[i].count = n * each;
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
	return a->count > 0;
}

size_t
hu_samples_fixed(const hu_samples *s)
{
	for (size_t i = 0; i < s->narray; i++) {
		const hu_onnx_value *v = s->input[i];
		if (!s->shared[i] && s->axis[i] >= 0 && s->axis[i] < v->rank && v->dim[s->axis[i]].n > 0)
			return (size_t)v->dim[s->axis[i]].n;
	}
	return 0;
}

/* The shape of input I for batches of BATCH: that of a row, with the axis of the batch in it. */
static hu_status
shape_of(hu_given *to, const hu_samples *s, size_t i, size_t batch)
{
	const hu_npy *a = s->array[i];
	const hu_onnx_value *v = s->input[i];
	int axis = s->axis[i], own = s->shared[i] ? 0 : v->rank >= 0 ? a->rank == v->rank + 1 : axis < 0;

	*to = (hu_given){ .name = v->name, .rank = a->rank - own };
	if (to->rank > HU_RANK)
		return hu_fail(HU_EUNABLE, "input '%.120s' has %d dimensions; at most %d are possible",
			hu_shown(v->name), to->rank, HU_RANK);
	for (int j = 0; j < to->rank; j++)
		to->d[j] = j == axis ? batch * s->run[i] : a->shape[own || j < axis ? j + 1 : j];
	size_t each = 1;
	for (int j = 0; j < to->rank; j++)
		each *= j == axis ? s->run[i] : to->d[j];
	if (each != hu_samples_each(s, i))
		return hu_fail(HU_EFILE,
			"the array for input '%.120s' has %zu elements in a row, and an input of the model has %zu; "
			"--batch-axis, or an axis more or less in the array, makes them one",
			hu_shown(v->name), hu_samples_each(s, i), each);
	for (int j = 0; j < to->rank && v->rank >= 0; j++)
		if (v->dim[j].n > 0 && (size_t)v->dim[j].n != to->d[j])
			return hu_fail(HU_EFILE,
				"the array for input '%.120s' has %zu elements along dimension %d, and the model "
				"needs %lld",
				hu_shown(v->name), to->d[j], j, (long long)v->dim[j].n);
	return HU_OK;
}

size_t
hu_samples_batch(const hu_samples *s, size_t batch)
{
	size_t own = hu_samples_fixed(s);

	for (size_t i = 0; i < s->narray; i++)
		if (!s->shared[i] && s->axis[i] < 0 && (s->input[i]->rank || !same(s->array[i])))
			return 1;
	return own ? own : batch < s->n ? batch : s->n;
}

hu_status
hu_samples_given(const hu_samples *s, size_t *batch, hu_given **given, size_t *ngiven, size_t *cap)
{
	*batch = hu_samples_batch(s, *batch);
	for (size_t i = 0; i < s->narray; i++) {
		hu_given to;
		HU_TRY(shape_of(&to, s, i, *batch));
		/* A number an input, such as its length, decides what the model does; where all have one, that is
		 * known. */
		s->fixed[i] = NAN;
		if ((!to.rank || (to.rank == 1 && s->axis[i] >= 0 && hu_import_whole(s->input[i]->type))) &&
			same(s->array[i])) {
			s->fixed[i] = hu_npy_real(s->array[i], 0);
			to.value = &s->fixed[i];
		}
		if (!to.rank && !to.value)
			continue;
		HU_GROW(*given, *ngiven, *cap);
		(*given)[(*ngiven)++] = to;
	}
	return HU_OK;
}

/* 1 where rows of both arrays, or shared arrays as wholes, have one shape. */
static int
alike(const hu_npy *a, const hu_npy *b, int shared)
{
	int same = a->rank == b->rank;

	for (int j = !shared; j < a->rank && same; j++)
		same = a->shape[j] == b->shape[j];
	return same;
}

hu_status
hu_samples_fit(hu_samples *s, const hu_samples *data)
{
	for (size_t i = 0; i < s->narray; i++) {
		const char *name = hu_shown(s->input[i]->name);
		const hu_npy *a = s->array[i];
		double is = data->fixed[i];
		s->axis[i] = data->axis[i];
		s->run[i] = data->run[i];
		if (s->shared[i] != data->shared[i] || !alike(a, data->array[i], s->shared[i]))
			return hu_fail(HU_EFILE,
				"the calibration array for input '%.120s' has another shape than --data has", name);
		for (size_t e = 0; is == is && e < a->count; e++)
			if (hu_npy_real(a, e) != is)
				return hu_fail(HU_EFILE,
					"the calibration array for input '%.120s' has %.17g, and --data have "
					"%.17g alone, which is part of the model then",
					name, hu_npy_real(a, e), is);
	}
	return HU_OK;
}

void
hu_samples_put(const hu_samples *s, size_t i, size_t row, size_t at, size_t batch, hu_tensor *t)
{
	const hu_npy *a = s->array[i];
	size_t each = hu_samples_each(s, i);
	hu_format f = hu_format_of(t->format);

	if (s->shared[i]) {
		row = at = 0;
		batch = 1;
	}
	hu_rows r = hu_rows_of(t->shape.rank, t->shape.d, s->axis[i], batch);
	HU_ASSERT(each * batch == t->n || !each);
	for (size_t k = 0; k < each; k++)
		hu_put(t, hu_rows_at(&r, at, k), hu_round(hu_npy_real(a, row * each + k), f, HU_RNE, 0, 0));
}

void
hu_samples_fill(const hu_samples *s, size_t i, size_t first, size_t batch, hu_tensor *t)
{
	for (size_t r = 0; r < batch; r++)
		hu_samples_put(s, i, first + r < s->n ? first + r : s->n - 1, r, batch, t);
}

void
hu_samples_fill_round(const hu_samples *s, size_t i, size_t first, size_t n, size_t batch, hu_tensor *t)
{
	for (size_t r = 0; r < batch; r++)
		hu_samples_put(s, i, (first + r) % n, r, batch, t);
}
