/* SPDX-License-Identifier: Apache-2.0
   Signals: windows of cosines, which are constants, and short-time Fourier transforms, whose frames are gathered and
   multiplied with matrices of cosines and sines. */
#include "lib/import/importing.h"
#include "lib/import/signal_node/turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 }; /* samples of a frame: the matrices have their square */

/* factor[0] - factor[1] cos(t) + factor[2] cos(2 t), where t runs once around. */
static const struct {
	const char *name;
	double factor[3];
} windows[] = { { "HannWindow", { 0.5, 0.5, 0 } }, { "HammingWindow", { 25. / 46, 21. / 46, 0 } },
	{ "BlackmanWindow", { 0.42, 0.5, 0.08 } } };

void
hu_node_signal_window(hu_importing *c)
{
	const double *f = NULL;
	double size[1];
	int type = (int)hu_import_int(c, "output_datatype", HU_ONNX_FLOAT),
	    periodic = hu_import_int(c, "periodic", 1) != 0;

	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
		f = strcmp(windows[i].name, c->node->op) ? f : windows[i].factor;
	if (!f || hu_import_list(c, NULL, 0, size, 1) != 1)
		return;
	if (!(size[0] >= 1 && size[0] < 0x1p24)) {
		hu_import_fail(c, HU_EFILE, "a window has one sample or more");
		return;
	}
	size_t n = (size_t)size[0];
	double *x = hu_import_room(c, n);
	size_t turn = n - (periodic || n == 1 ? 0 : 1);
	int whole = hu_import_whole(type);
	for (size_t i = 0; x && i < n; i++) {
		x[i] = f[0] - f[1] * hu_cos_turn(i, turn) + f[2] * hu_cos_turn(2 * i, turn);
		x[i] = whole ? trunc(x[i]) : x[i];
	}
	int t = x ? hu_import_numbers(c, type, 1, &n, x) : -1;
	free(x);
	hu_value *y = t < 0 ? NULL : hu_import_out(c, 0, type, 1, &n);
	if (y)
		y->plain = t;
}

/* The number that input I is; OTHERWISE where it is left out, -1 after a failure. */
static double
number(hu_importing *c, size_t i, double otherwise)
{
	double x[1];

	if (i >= c->node->nin || !*c->node->in[i])
		return otherwise;
	return hu_import_list(c, NULL, i, x, 1) == 1 ? x[0] : -1;
}

/* The frames of N samples of part K of V, [batch, length, parts], STEP apart: a matrix of one frame a row, each times
   the window W (-1: none). */
static int
frames(hu_importing *c, hu_value *v, size_t k, size_t n, size_t step, size_t many, int w)
{
	size_t batch = v->d[0], length = v->d[1];
	double *at = hu_import_room(c, batch * many * n);
	int t = hu_import_flat(c, hu_import_part(c, hu_import_plain(c, v), 2, k, 1), hu_shape1(batch * length)),
	    place = -1;

	for (size_t b = 0; at && b < batch; b++)
		for (size_t f = 0; f < many; f++)
			for (size_t i = 0; i < n; i++)
				at[(b * many + f) * n + i] = (double)(b * length + f * step + i);
	if (at)
		place = hu_import_numbers(c, HU_ONNX_INT64, 1, (size_t[]){ batch * many * n }, at);
	free(at);
	hu_import_set(c, "axis", 0);
	t = hu_import_flat(c, hu_import_call2(c, "gather", t, place), hu_shape2(batch * many, n));
	return w < 0 ? t : hu_import_call2(c, "mul", t, hu_import_expand(c, w, hu_shape2(batch * many, n)));
}

void
hu_node_stft(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *window = hu_import_in(c, 2);
	double step = number(c, 1, -1), length = number(c, 3, window ? (double)window->n : -1);

	if (!v || c->st != HU_OK)
		return;
	if (v->rank != 3 || v->d[2] < 1 || v->d[2] > 2 || !(step >= 1 && step < 0x1p30) || !(length >= 1)) {
		hu_import_fail(
			c, HU_EFILE, "it needs a signal [batch, length, 1 or 2], a step, and the length of a frame");
		return;
	}
	if (length > MOST || length > (double)v->d[1] || (window && (double)window->n != length)) {
		hu_import_fail(c, HU_EUNABLE,
			"frames of %.17g samples are not possible; at most %d are, no more than the signal and as many "
			"as "
			"the window has",
			length, MOST);
		return;
	}
	size_t n = (size_t)length, parts = v->d[2], many = (v->d[1] - n) / (size_t)step + 1;
	int half = hu_import_int(c, "onesided", 1) != 0 && parts == 1;
	size_t m = half ? n / 2 + 1 : n, d[4] = { v->d[0], many, m, 2 };
	int w = window ? hu_import_flat(c, hu_import_plain(c, window), hu_shape1(n)) : -1,
	    cosine = hu_fourier_waves(c, v->type, n, m, 0, 1), sine = hu_fourier_waves(c, v->type, n, m, 1, -1),
	    t = frames(c, v, 0, n, (size_t)step, many, w);
	int a = hu_fourier_times(c, t, cosine), b = hu_fourier_times(c, t, sine);
	if (parts == 2) {
		t = frames(c, v, 1, n, (size_t)step, many, w);
		a = hu_import_call2(c, "sub", a, hu_fourier_times(c, t, sine));
		b = hu_import_call2(c, "add", b, hu_fourier_times(c, t, cosine));
	}
	t = hu_import_flat(c, hu_fourier_pair(c, a, b), hu_shape4(d[0], d[1], d[2], d[3]));
	hu_import_out(c, 0, v->type, 4, d)->plain = t;
}
