/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/augment.h"

#include "lib/base/console/opt.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/base/thread.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
	const char *name;
	size_t at;
	hu_augment_moves *moves;   /* one of these two is NULL */
	hu_augment_values *values;
	double least, most, none;
} rows_of[] = {
#define MOVES(code) code, NULL
#define VALUES(code) NULL, code
#define AUGMENT(name, how, argument, least, most, none, summary)                                                       \
	{ #name, offsetof(hu_augment, name), how(hu_augment_##name), least, most, none },
#include "trainer/data/augments.def"
#undef AUGMENT
#undef VALUES
#undef MOVES
};

enum { ROWS = sizeof rows_of / sizeof *rows_of };

static double *
number_of(hu_augment *g, int i)
{
	return (double *)((char *)g + rows_of[i].at);
}

static double
number_asked(const hu_augment *g, int i)
{
	return *(const double *)((const char *)g + rows_of[i].at);
}

static int
moves_any(const hu_augment *g)
{
	for (int i = 0; i < ROWS; i++)
		if (rows_of[i].moves && number_asked(g, i) != 0)
			return 1;
	return 0;
}

static int
values_any(const hu_augment *g)
{
	for (int i = 0; i < ROWS; i++)
		if (rows_of[i].values && number_asked(g, i) != 0)
			return 1;
	return 0;
}

/* Reads one word, "NAME" or "NAME:NUMBER". */
static hu_status
parse_word(hu_augment *g, char *word)
{
	char *colon = strchr(word, ':');
	double x;
	int i = 0;

	if (colon)
		*colon = 0;
	while (i < ROWS && strcmp(rows_of[i].name, word))
		i++;
	if (i == ROWS)
		return hu_fail(HU_EINVAL,
			"--augment %s: one of"
#define AUGMENT(name, how, argument, least, most, none, summary) " " #name
#include "trainer/data/augments.def"
#undef AUGMENT
			" is needed",
			word);
	const struct row *r = &rows_of[i];
	if (*number_of(g, i) != 0)
		return hu_fail(HU_EINVAL, "--augment %s: it is asked for twice", word);
	*number_of(g, i) = r->none != 0 ? r->none : -1;
	if (!colon)
		return HU_OK;
	if (r->most == 0)
		return hu_fail(HU_EINVAL, "--augment %s:%s: %s takes no number", word, colon + 1, word);
	if (!hu_parse_real(colon + 1, &x) || !(x >= r->least && x <= r->most) ||
		(r->moves && x != (double)(size_t)x))
		return hu_fail(HU_EINVAL, "--augment %s:%s: a %snumber between %g and %g must follow the colon", word,
			colon + 1, r->moves ? "whole " : "", r->least, r->most);
	*number_of(g, i) = x;
	return HU_OK;
}

hu_status
hu_augment_parse(hu_augment *g, const char *text)
{
	hu_status st = HU_OK;

	memset(g, 0, sizeof *g);
	for (const char *s = text; s && st == HU_OK;) {
		size_t n = strcspn(s, ",");
		char *word = hu_xprintf("%.*s", (int)n, s);
		st = parse_word(g, word);
		free(word);
		s = s[n] ? s + n + 1 : NULL;
	}
	return st;
}

int
hu_augment_any(const hu_augment *g)
{
	return moves_any(g) || values_any(g);
}

hu_status
hu_augment_check(const hu_augment *g, const hu_dataset *ds)
{
	const hu_data_array *x = hu_dataset_find(ds, "x");

	if (!hu_augment_any(g))
		return HU_OK;
	if (!x)
		return hu_fail(
			HU_EINVAL, "--augment: %s has neither images nor signals, which could be changed", ds->name);
	if (moves_any(g) && x->shape.rank != 3)
		return hu_fail(HU_EINVAL,
			"--augment: rows of %s have no height, width and channels; only scale and noise "
			"can be asked for",
			ds->name);
	return HU_OK;
}

static uint32_t
stream_of(const hu_view *d, const char *name)
{
	char *text = d->view ? hu_xprintf("augment/%s/%u", name, d->view) : hu_xprintf("augment/%s", name);
	uint32_t stream = hu_fnv1a32(text);

	free(text);
	return stream;
}

/* What row I of the table knows of a row of x's shape S. */
static hu_augmenting
augmenting(const hu_augment *g, int i, const hu_view *d, size_t row, hu_shape s)
{
	hu_augmenting a = { .number = number_asked(g, i),
		.height = (long)s.d[0],
		.width = s.rank > 1 ? (long)s.d[1] : 1,
		.seed = d->seed,
		.row = row,
		.stream = stream_of(d, rows_of[i].name),
		.epoch = d->epoch };

	a.draw = hu_random_at(a.seed, a.stream, a.epoch, a.row);
	return a;
}

/* Moves the pixels of a row, which have `channels` numbers each. What is done last is the first on the way back to
   where a pixel was. */
static void
move_pixels(const hu_augment *g, const hu_view *d, size_t row, hu_shape s, size_t channels, float *pixels)
{
	hu_augmenting of[ROWS];
	int asked[ROWS], n = 0;
	size_t each = s.d[0] * s.d[1] * channels;
	float *old = hu_xmalloc(each * sizeof *old), *p = pixels;

	for (int i = 0; i < ROWS; i++)
		if (rows_of[i].moves && number_asked(g, i) != 0) {
			of[n] = augmenting(g, i, d, row, s);
			asked[n++] = i;
		}
	memcpy(old, pixels, each * sizeof *old);
	for (long y = 0; y < (long)s.d[0]; y++)
		for (long x = 0; x < (long)s.d[1]; x++, p += channels) {
			long sy = y, sx = x;
			int inside = 1;
			for (int k = n; k-- && inside;)
				inside = rows_of[asked[k]].moves(&of[k], &sy, &sx);
			if (inside)
				memcpy(p, old + (size_t)(sy * (long)s.d[1] + sx) * channels, channels * sizeof *p);
			else
				memset(p, 0, channels * sizeof *p);
		}
	free(old);
}

static void
change_values(const hu_augment *g, const hu_view *d, size_t row, hu_shape s, size_t each, float *x)
{
	double *values = hu_xmalloc((each + 1) * sizeof *values);

	for (size_t k = 0; k < each; k++)
		values[k] = (double)x[k];
	for (int i = 0; i < ROWS; i++)
		if (rows_of[i].values && number_asked(g, i) != 0) {
			hu_augmenting a = augmenting(g, i, d, row, s);
			rows_of[i].values(&a, values, each);
		}
	for (size_t k = 0; k < each; k++)
		x[k] = (float)values[k];
	free(values);
}

/* Changes n rows in place; row i is at rows + i * apart times the elements of a row. */
static void
change_rows(const hu_augment *g, const hu_dataset *ds, const hu_data_array *a, hu_view d, const size_t *index, size_t n,
	size_t apart, float *rows)
{
	const hu_data_array *x = hu_dataset_find(ds, "x");
	size_t each = hu_count(a->shape);
	int is_x = a == x,
	    follows = is_x || (x && !strcmp(a->name, "mask") && a->shape.rank >= 2 && a->shape.d[0] == x->shape.d[0] &&
				      a->shape.d[1] == x->shape.d[1]),
	    moves = follows && moves_any(g), values = is_x && values_any(g);

	if (!moves && !values)
		return;
#pragma omp parallel for schedule(dynamic) num_threads(hu_threads()) if (n > 1)
	for (size_t i = 0; i < n; i++) {
		float *row = rows + i * apart * each;
		if (moves)
			move_pixels(g, &d, index[i], x->shape, each / (x->shape.d[0] * x->shape.d[1]), row);
		if (values)
			change_values(g, &d, index[i], x->shape, each, row);
	}
}

hu_status
hu_augment_batch(const hu_augment *g, hu_dataset *ds, const hu_data_array *a, const hu_view *first, size_t views,
	const size_t *index, size_t n, float *rows)
{
	size_t each = hu_count(a->shape);

	HU_TRY(hu_dataset_batch(ds, a, index, n, rows));
	/* Backwards, so that no row is overwritten before it has been copied. */
	for (size_t i = n; views > 1 && i-- > 0;)
		for (size_t v = views; v-- > 0;)
			memmove(rows + (i * views + v) * each, rows + i * each, each * sizeof *rows);
	for (uint32_t v = 0; first && v < views; v++)
		change_rows(g, ds, a, (hu_view){ first->seed, first->epoch, v }, index, n, views, rows + v * each);
	return HU_OK;
}
