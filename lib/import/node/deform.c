/* SPDX-License-Identifier: Apache-2.0
   DeformConv: a convolution whose taps are bilinear samples of the image at places that the model computes. */
#include "lib/import/importing.h"

#include <stdlib.h>
#include <string.h>

/* The convolution at hand: its taps, output pixels, groups of weights and groups of channels that share places. */
typedef struct deform {
	hu_importing *c;
	hu_value *v, *w, *offset, *mask;
	hu_window win;
	size_t taps, pixels, groups, places;
} deform;

/* Where tap and output pixel lie without an offset, [taps, pixels], along axis A (0: rows). */
static int
base(const deform *g, int a)
{
	const hu_window *w = &g->win;
	double *x = hu_import_room(g->c, g->taps * g->pixels);
	int t = -1;

	for (size_t k = 0; x && k < g->taps; k++)
		for (size_t p = 0; p < g->pixels; p++) {
			size_t tap = a ? k % w->kernel[1] : k / w->kernel[1], at = a ? p % w->out[1] : p / w->out[1];
			x[k * g->pixels + p] =
				(double)(at * w->stride[a] + tap * w->dilation[a]) - (double)w->before[a];
		}
	if (x)
		t = hu_import_matrix(g->c, g->v->type, g->taps, g->pixels, x);
	free(x);
	return t;
}

/* Part K, of EACH, of T's axis 1, an input [batch, groups taps EACH, rows, columns]: for the taps of group I. */
static int
of_taps(const deform *g, hu_value *from, size_t i, size_t k, size_t each)
{
	int t = hu_import_plain(g->c, from);

	t = hu_import_flat(g->c, t, hu_shape4(g->v->d[0], g->places, g->taps, each * g->pixels));
	t = hu_import_part(g->c, hu_import_part(g->c, t, 1, i, 1), 3, k * g->pixels, g->pixels);
	return hu_import_flat(g->c, t, hu_shape3(g->v->d[0], g->taps, g->pixels));
}

/* The number of the first pixel of each sample's image. */
static int
first_pixels(const deform *g)
{
	size_t each = g->taps * g->pixels, n = g->v->d[0] * each, image = g->v->d[2] * g->v->d[3];
	double *x = hu_import_room(g->c, n);
	int t = -1;

	for (size_t i = 0; x && i < n; i++)
		x[i] = (double)(i / each * image);
	if (x)
		t = hu_import_numbers(g->c, HU_ONNX_INT64, 2, (size_t[]){ n, 1 }, x);
	free(x);
	return t;
}

/* The samples of the channels of group I: [batch, taps, pixels, channels]. */
static int
samples(const deform *g, size_t i)
{
	hu_importing *c = g->c;
	size_t channels = g->v->d[1] / g->places, n = g->v->d[0] * g->taps * g->pixels, at[2];
	hu_shape s = hu_shape3(g->v->d[0], g->taps, g->pixels);
	int place[2], pixels = hu_import_last(c, g->v);

	for (int a = 0; a < 2; a++) {
		int t = hu_import_call2(
			c, "add", of_taps(g, g->offset, i, (size_t)a, 2), hu_import_expand(c, base(g, a), s));
		place[a] = hu_import_flat(c, t, hu_shape2(n, 1));
		at[a] = g->v->d[3 - a];
	}
	pixels = hu_import_part(c, pixels, 3, i * channels, channels);
	pixels = hu_import_flat(c, pixels, hu_shape2(g->v->n / g->v->d[1], channels));
	hu_grid_sampling sampling = { c, g->v->type, pixels, first_pixels(g), -1, n, channels, { at[0], at[1] }, 2, 1 };
	int t = hu_grid_linear(&sampling, (int[]){ place[1], place[0] }, "add");
	if (g->mask) {
		int m = hu_import_flat(c, of_taps(g, g->mask, i, 0, 1), hu_shape2(n, 1));
		t = hu_import_call2(c, "mul", t, hu_import_expand(c, m, hu_shape2(n, channels)));
	}
	return hu_import_flat(c, t, hu_shape4(g->v->d[0], g->taps, g->pixels, channels));
}

/* The product of the samples ALL, [batch, taps, pixels, channels], with the weights of group I: a row an output pixel.
 */
static int
product(const deform *g, int all, size_t i)
{
	hu_importing *c = g->c;
	size_t in = g->w->d[1], out = g->w->d[0] / g->groups, batch = g->v->d[0];
	hu_axes x = hu_axes_same(hu_shape4(batch, g->pixels, g->taps, in)), y;

	x.from[1] = 2;
	x.from[2] = 1;
	x.start[3] = (double)(i * in);
	int t = hu_import_flat(c, hu_import_move(c, all, &x), hu_shape2(batch * g->pixels, g->taps * in));
	int w = hu_import_flat(c, hu_import_plain(c, g->w), hu_shape3(g->w->d[0], in, g->taps));
	y = hu_axes_same(hu_shape3(g->taps, in, out));
	y.from[0] = 2;
	y.from[2] = 0;
	y.start[2] = (double)(i * out);
	w = hu_import_flat(c, hu_import_move(c, w, &y), hu_shape2(g->taps * in, out));
	return hu_import_call2(c, "matmul", t, w);
}

/* Tensors A (-1: none yet) and B joined along their last axis K. */
static int
joined(hu_importing *c, int a, int b, int k)
{
	if (a < 0)
		return b;
	hu_import_set(c, "axis", k);
	return hu_import_call2(c, "concat", a, b);
}

static int
fits(const deform *g)
{
	const hu_value *v = g->v, *w = g->w, *o = g->offset, *m = g->mask;
	size_t taps = g->taps * g->places, rows = g->win.out[0], columns = g->win.out[1];

	return g->groups && g->places && v->d[1] == w->d[1] * g->groups && !(w->d[0] % g->groups) &&
	       !(v->d[1] % g->places) && o->rank == 4 && o->d[0] == v->d[0] && o->d[1] == 2 * taps && o->d[2] == rows &&
	       o->d[3] == columns &&
	       (!m || (m->rank == 4 && m->d[0] == v->d[0] && m->d[1] == taps && m->d[2] == rows && m->d[3] == columns));
}

void
hu_node_deform_conv(hu_importing *c)
{
	deform g = { .c = c,
		.v = hu_import_in(c, 0),
		.w = hu_import_in(c, 1),
		.offset = hu_import_in(c, 2),
		.mask = hu_import_in(c, 4) };
	hu_value *bias = hu_import_in(c, 3);
	int64_t groups = hu_import_int(c, "group", 1), places = hu_import_int(c, "offset_group", 1);

	if (!g.v || !g.w || !g.offset)
		return;
	if (g.v->rank != 4 || g.w->rank != 4) {
		hu_import_fail(c, HU_EUNABLE, "it convolves %d axes; images have two", g.v->rank - 2);
		return;
	}
	if (hu_import_window(c, &g.win, g.v, g.w->d + 2))
		return;
	g.taps = g.w->d[2] * g.w->d[3];
	g.pixels = g.win.out[0] * g.win.out[1];
	g.groups = groups > 0 ? (size_t)groups : 0;
	g.places = places > 0 ? (size_t)places : 0;
	if (!fits(&g)) {
		hu_import_fail(c, HU_EFILE, "its image, weights, offsets or mask do not fit each other");
		return;
	}
	int all = -1, t = -1;
	for (size_t i = 0; i < g.places && c->st == HU_OK; i++)
		all = joined(c, all, samples(&g, i), 3);
	for (size_t i = 0; i < g.groups && c->st == HU_OK; i++)
		t = joined(c, t, product(&g, all, i), 1);
	if (bias)
		t = hu_import_call2(c, "bias", t, hu_import_flat(c, hu_import_plain(c, bias), hu_shape1(g.w->d[0])));
	size_t d[4] = { g.v->d[0], g.w->d[0], g.win.out[0], g.win.out[1] };
	t = hu_import_flat(c, t, hu_shape4(d[0], d[2], d[3], d[1]));
	hu_import_out(c, 0, g.v->type, 4, d)->last = t;
}
