/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/augment.h"

#include "lib/base/console/opt.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/base/thread.h"
#include "lib/number/philox.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES, MOVES };

static const struct row {
	const char *name;
	size_t at;
	int how;
	double least, most, none;
} rows_of[] = {
#define AUGMENT(name, how, argument, least, most, none, summary)                                                       \
	{ #name, offsetof(hu_augment, name), how, least, most, none },
#include "trainer/data/augments.def"
#undef AUGMENT
};

enum { ROWS = sizeof rows_of / sizeof *rows_of };

static double *
number_of(hu_augment *g, int i)
{
	return (double *)((char *)g + rows_of[i].at);
}

static int
asked(const hu_augment *g, int how)
{
	for (int i = 0; i < ROWS; i++)
		if (rows_of[i].how == how && *number_of((hu_augment *)(size_t)g, i) != 0)
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
		(r->how == MOVES && x != (double)(size_t)x))
		return hu_fail(HU_EINVAL, "--augment %s:%s: a %snumber between %g and %g must follow the colon", word,
			colon + 1, r->how == MOVES ? "whole " : "", r->least, r->most);
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
	return asked(g, MOVES) || asked(g, VALUES);
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
	if (asked(g, MOVES) && x->shape.rank != 3)
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

static hu_random
block(const hu_view *d, const char *name, uint64_t index)
{
	return hu_random_at(d->seed, stream_of(d, name), d->epoch, index);
}

/* A whole number between -most and most. */
static long
either_way(uint32_t word, double most)
{
	uint64_t m = (uint64_t)most;

	return (long)(word * (2 * m + 1) >> 32) - (long)m;
}

/* Where pixels of a row come from. */
typedef struct move {
	long down, across, shift;
	int flip;
} move;

static move
draw_move(const hu_augment *g, const hu_view *d, size_t row, hu_shape s)
{
	move m = { 0, 0, 0, 0 };
	double high = (double)((s.d[0] + 7) / 8), wide = (double)((s.d[1] + 7) / 8);

	if (g->crop != 0) {
		hu_random r = block(d, "crop", row);
		m.down = s.d[0] > 1 ? either_way(r.w[0], g->crop < 0 ? high : g->crop) : 0;
		m.across = s.d[1] > 1 ? either_way(r.w[1], g->crop < 0 ? (s.d[0] > 1 ? high : wide) : g->crop) : 0;
	}
	if (g->shift != 0)
		m.shift = either_way(block(d, "shift", row).w[0], g->shift < 0 ? wide : g->shift);
	if (g->flip != 0)
		m.flip = block(d, "flip", row).w[0] >> 31;
	return m;
}

/* Writes the moved `from` to `to`; each pixel has `channels` numbers. The window is cropped first, then rotated, then
   mirrored. */
static void
move_pixels(float *to, const float *from, const move *m, long height, long width, size_t channels)
{
	for (long y = 0; y < height; y++)
		for (long x = 0; x < width; x++) {
			long at = ((m->flip ? width - 1 - x : x) - m->shift) % width;
			long sx = (at < 0 ? at + width : at) + m->across, sy = y + m->down;
			float *p = to + (size_t)(y * width + x) * channels;
			if (sx < 0 || sx >= width || sy < 0 || sy >= height)
				memset(p, 0, channels * sizeof *p);
			else
				memcpy(p, from + (size_t)(sy * width + sx) * channels, channels * sizeof *p);
		}
}

static void
change_values(const hu_augment *g, const hu_view *d, size_t row, size_t each, float *x)
{
	double factor = g->scale != 0 ? 1 + g->scale * (2 * hu_uniform(block(d, "scale", row)) - 1) : 1;
	/* The sum of eight uniform numbers has variance 8/12. */
	double noise = g->noise * 1.2247448713915890 / 65536;
	uint32_t stream = stream_of(d, "noise");

	for (size_t k = 0; k < each; k++) {
		double y = (double)x[k] * factor;
		if (g->noise != 0) {
			hu_random r = hu_random_at(d->seed, stream, d->epoch, (uint64_t)row * each + k);
			uint32_t sum = 0;
			for (int i = 0; i < 4; i++)
				sum += (r.w[i] & 0xffff) + (r.w[i] >> 16);
			y += noise * ((double)sum + 4 - 4 * 65536.0);
		}
		x[k] = (float)y;
	}
}

/* Changes n rows in place; row i is at rows + i * apart times the elements of a row. */
static void
change_rows(const hu_augment *g, const hu_dataset *ds, const hu_data_array *a, hu_view d, const size_t *index, size_t n,
	size_t apart, float *rows)
{
	const hu_data_array *x = hu_dataset_find(ds, "x");
	size_t each = hu_count(a->shape);
	int is_x = a == x, moves = asked(g, MOVES),
	    follows = is_x || (x && !strcmp(a->name, "mask") && a->shape.rank >= 2 && a->shape.d[0] == x->shape.d[0] &&
				      a->shape.d[1] == x->shape.d[1]),
	    values = is_x && asked(g, VALUES);

	moves = moves && follows;
	if (!moves && !values)
		return;
#pragma omp parallel for schedule(dynamic) num_threads(hu_threads()) if (n > 1)
	for (size_t i = 0; i < n; i++) {
		float *row = rows + i * apart * each;
		if (moves) {
			move m = draw_move(g, &d, index[i], x->shape);
			float *old = hu_xmalloc(each * sizeof *old);
			memcpy(old, row, each * sizeof *old);
			move_pixels(row, old, &m, (long)x->shape.d[0], (long)x->shape.d[1],
				each / (x->shape.d[0] * x->shape.d[1]));
			free(old);
		}
		if (values)
			change_values(g, &d, index[i], each, row);
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
