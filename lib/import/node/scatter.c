/* SPDX-License-Identifier: Apache-2.0
   Scatters to places that are constants (scatter_computed.c has the others), and lookups that are known beforehand:
   each output element is one of the input or of the updates, so that nothing is computed but what a reduction adds,
   multiplies or compares. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
strides(const hu_value *v, size_t *stride)
{
	size_t all = 1;

	for (int j = v->rank - 1; j >= 0; all *= v->d[j], j--)
		stride[j] = all;
}

/* X within N, negative ones counted from the end; -1 and a failure outside. */
static ptrdiff_t
within(hu_importing *c, double x, size_t n)
{
	if (!(x >= -(double)n && x < (double)n)) {
		hu_import_fail(c, HU_EFILE, "index %g is outside of %zu elements", x, n);
		return -1;
	}
	return (ptrdiff_t)(x < 0 ? x + (double)n : x);
}

/* T, whose elements are N, looked up at AT, in shape S. */
static int
look_up(hu_importing *c, int t, const double *at, hu_shape s)
{
	size_t n = hu_count(s);
	int places = hu_import_numbers(c, HU_ONNX_INT64, 1, &n, at);

	if (t < 0)
		return -1;
	t = hu_import_flat(c, t, hu_shape1(hu_count(c->p->t[t].shape)));
	hu_import_set(c, "axis", 0);
	return hu_import_flat(c, hu_import_call2(c, "gather", t, places), s);
}

/* V with the elements of U put to the places TO, one for each of them, as output 0. */
static void
scatter(hu_importing *c, hu_value *v, hu_value *u, const size_t *to)
{
	double none = 0, *at = hu_import_room(c, v->n);
	const char *op = hu_scatter_reduction(c, &none);
	char *done = hu_xcalloc(u->n + 1, 1);
	hu_shape s = hu_import_shape(v->rank, v->d);
	int t = hu_import_plain(c, v), left = 1;

	/* Each round takes one update of each place; without a reduction there is one round, and the last one wins. */
	while (left && at && c->st == HU_OK) {
		left = 0;
		for (size_t i = 0; i < v->n; i++)
			at[i] = op ? 0 : (double)i;
		for (size_t i = 0; i < u->n; i++) {
			if (done[i])
				continue;
			if (op && at[to[i]] != 0) {
				left = 1;
				continue;
			}
			at[to[i]] = op ? (double)(i + 1) : (double)(v->n + i);
			done[i] = 1;
		}
		int first = op ? hu_import_flat(c, hu_import_number(c, v->type, none), hu_shape1(1))
			       : hu_import_flat(c, t, hu_shape1(v->n)),
		    updates = hu_import_flat(c, hu_import_plain(c, u), hu_shape1(u->n));
		hu_import_set(c, "axis", 0);
		int x = look_up(c, hu_import_call2(c, "concat", first, updates), at, s);
		t = op ? hu_import_call2(c, op, t, x) : x;
	}
	free(done);
	free(at);
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
}

/* Fails where ONNX Runtime's CPU has no kernel of float16 for how the node at hand joins updates with V. */
static void
has_kernel(hu_importing *c, const hu_value *v)
{
	const char *how = hu_import_text(c, "reduction", "none");
	int elements = !strcmp(c->node->op, "ScatterElements");

	if (c->typing == HU_TYPING_ORT_CPU && v->type == HU_ONNX_FLOAT16 && strcmp(how, "none") != 0 &&
		!(elements && (!strcmp(how, "max") || !strcmp(how, "min"))) && hu_typing_runs_narrow(c))
		hu_import_fail(c, HU_EUNABLE,
			"onnxruntime's CPU does not join scattered updates in float16 and fails here; --runtime strict "
			"says what a GPU computes");
}

void
hu_node_scatter_elements(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *at = hu_import_in(c, 1), *u = hu_import_in(c, 2);
	size_t stride[HU_RANK];

	if (!v || !at || !u)
		return;
	int k = hu_import_axis(c, hu_import_int(c, "axis", 0), v->rank);
	if (k < 0 || at->rank != v->rank || u->n != at->n) {
		hu_import_fail(c, HU_EFILE, "its indices and updates do not fit the value");
		return;
	}
	for (int j = 0; j < v->rank; j++)
		if (j != k && at->d[j] > v->d[j]) {
			hu_import_fail(c, HU_EFILE, "its indices are longer than the value along axis %d", j);
			return;
		}
	has_kernel(c, v);
	if (!u->n) { /* nothing is updated */
		hu_import_same(c, 0, v, v->rank, v->d);
		return;
	}
	if (!hu_import_is_constant(c, at)) {
		hu_scatter_elements_computed(c, v, at, u, k);
		return;
	}
	double *x = hu_import_constant(c, at);
	size_t *to = hu_xcalloc(u->n + 1, sizeof *to);
	strides(v, stride);
	for (size_t i = 0; x && i < u->n && c->st == HU_OK; i++) {
		size_t rest = i;
		for (int j = v->rank - 1; j >= 0; rest /= at->d[j], j--)
			to[i] += (j == k ? (size_t)within(c, x[i], v->d[k]) : rest % at->d[j]) * stride[j];
	}
	if (x && c->st == HU_OK)
		scatter(c, v, u, to);
	free(x);
	free(to);
}

void
hu_node_scatter_nd(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *at = hu_import_in(c, 1), *u = hu_import_in(c, 2);
	size_t stride[HU_RANK], row = 1;

	if (!v || !at || !u)
		return;
	size_t k = at->rank ? at->d[at->rank - 1] : 0;
	for (int j = (int)k; j < v->rank; j++)
		row *= v->d[j];
	if (!k || k > (size_t)v->rank || u->n != at->n / k * row) {
		hu_import_fail(c, HU_EFILE, "its indices and updates do not fit the value");
		return;
	}
	has_kernel(c, v);
	if (!u->n) { /* nothing is updated */
		hu_import_same(c, 0, v, v->rank, v->d);
		return;
	}
	if (!hu_import_is_constant(c, at)) {
		hu_scatter_nd_computed(c, v, at, u);
		return;
	}
	double *x = hu_import_constant(c, at);
	size_t *to = hu_xcalloc(u->n + 1, sizeof *to);
	strides(v, stride);
	for (size_t i = 0; x && i < u->n && c->st == HU_OK; i++) {
		to[i] = i % row;
		for (size_t j = 0; j < k; j++)
			to[i] += (size_t)within(c, x[i / row * k + j], v->d[j]) * stride[j];
	}
	if (x && c->st == HU_OK)
		scatter(c, v, u, to);
	free(x);
	free(to);
}

enum { COL2IM_AXES = 3 };

/* Blocks of an image: along each of n axes its size, and of blocks their size, distance, dilation, padding and
   number. */
typedef struct blocks {
	int n;
	size_t size[COL2IM_AXES], block[COL2IM_AXES], out[COL2IM_AXES], stride[COL2IM_AXES], dilation[COL2IM_AXES],
		before[COL2IM_AXES];
} blocks;

static size_t
product(const size_t *d, int n)
{
	size_t all = 1;

	for (int i = 0; i < n; i++)
		all *= d[i];
	return all;
}

/* Reads the sizes of the node at hand. Returns -1 after a failure. */
static int
read_blocks(hu_importing *c, blocks *b)
{
	const hu_onnx_attr *pads = hu_import_attr(c, "pads"), *strides = hu_import_attr(c, "strides"),
			   *dilations = hu_import_attr(c, "dilations");
	double image[HU_RANK], block[HU_RANK];

	b->n = hu_import_list(c, NULL, 1, image, HU_RANK);
	if (b->n < 1 || b->n > COL2IM_AXES || hu_import_list(c, NULL, 2, block, HU_RANK) != b->n)
		return hu_import_fail(
			c, HU_EUNABLE, "its image and its blocks must have one to %d axes, as many as each other",
			COL2IM_AXES);
	if ((pads && pads->nints != 2 * (size_t)b->n) || (strides && strides->nints != (size_t)b->n) ||
		(dilations && dilations->nints != (size_t)b->n))
		return hu_import_fail(c, HU_EFILE, "its pads, strides or dilations do not fit %d axes", b->n);
	for (int i = 0; i < b->n; i++) {
		int64_t stride = strides ? strides->ints[i] : 1, dilation = dilations ? dilations->ints[i] : 1,
			before = pads ? pads->ints[i] : 0, after = pads ? pads->ints[i + b->n] : 0;
		double most = 1 << 20, span = (block[i] - 1) * (double)dilation + 1,
		       room = image[i] + (double)before + (double)after - span;
		if (!(image[i] >= 1 && image[i] <= most && block[i] >= 1 && block[i] <= most) || stride < 1 ||
			dilation < 1 || before < 0 || after < 0 || !(room >= 0 && room <= most))
			return hu_import_fail(c, HU_EFILE, "its blocks do not fit its image along axis %d", i);
		b->size[i] = (size_t)image[i];
		b->block[i] = (size_t)block[i];
		b->stride[i] = (size_t)stride;
		b->dilation[i] = (size_t)dilation;
		b->before[i] = (size_t)before;
		b->out[i] = (size_t)room / b->stride[i] + 1;
	}
	return 0;
}

/* Where element K of block L lies in the image; -1 in its padding. */
static ptrdiff_t
place(const blocks *b, size_t k, size_t l)
{
	size_t at = 0, all = 1;

	for (int i = b->n - 1; i >= 0; i--) {
		size_t x = l % b->out[i] * b->stride[i] + k % b->block[i] * b->dilation[i];
		if (x < b->before[i] || x - b->before[i] >= b->size[i])
			return -1;
		at += (x - b->before[i]) * all;
		all *= b->size[i];
		k /= b->block[i];
		l /= b->out[i];
	}
	return (ptrdiff_t)at;
}

/* Columns [N,C·K,L] of L blocks of K elements, added up where they lie in the image, in the order of the elements of a
   block. */
void
hu_node_col2im(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	size_t d[HU_RANK];
	blocks b;

	if (!v || read_blocks(c, &b) < 0)
		return;
	size_t nk = product(b.block, b.n), nl = product(b.out, b.n), n = product(b.size, b.n);
	if (v->rank != 3 || v->d[1] % nk || v->d[2] != nl) {
		hu_import_fail(c, HU_EFILE, "its columns are not those of %zu blocks of %zu elements", nl, nk);
		return;
	}
	size_t rows = v->d[0] * (v->d[1] / nk), left = nk * nl;
	int zero = hu_import_expand(c, hu_import_number(c, v->type, 0), hu_shape2(rows, 1)),
	    t = hu_import_flat(c, hu_import_plain(c, v), hu_shape2(rows, nk * nl)), sum = -1;
	hu_import_set(c, "axis", 1);
	t = hu_import_call2(c, "concat", zero, t);
	char *done = hu_xcalloc(nk * nl + 1, 1);
	double *at = hu_import_room(c, n);
	/* Each round adds one element to each place. */
	for (int round = 0; (left || !round) && at && c->st == HU_OK; round++) {
		memset(at, 0, n * sizeof *at);
		for (size_t i = 0; i < nk * nl; i++) {
			ptrdiff_t to = done[i] ? -1 : place(&b, i / nl, i % nl);
			if (done[i] || (to >= 0 && at[to] != 0))
				continue;
			if (to >= 0)
				at[to] = (double)(i + 1);
			done[i] = 1;
			left--;
		}
		int places = hu_import_numbers(c, HU_ONNX_INT64, 1, &n, at);
		hu_import_set(c, "axis", 1);
		int more = hu_import_call2(c, "gather", t, places);
		sum = round ? hu_import_call2(c, "add", sum, more) : more;
	}
	free(done);
	free(at);
	d[0] = v->d[0];
	d[1] = v->d[1] / nk;
	memcpy(d + 2, b.size, (size_t)b.n * sizeof *d);
	hu_import_out(c, 0, v->type, b.n + 2, d)->plain =
		hu_import_flat(c, sum, hu_import_shape(b.n + 2, d));
}

/* The first elements of each sequence in reverse order; the rest stay. */
void
hu_node_reverse_sequence(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *lengths = hu_import_in(c, 1);
	size_t stride[HU_RANK];

	if (!v || !lengths)
		return;
	int time = hu_import_axis(c, hu_import_int(c, "time_axis", 0), v->rank),
	    batch = hu_import_axis(c, hu_import_int(c, "batch_axis", 1), v->rank);
	double *n = time < 0 || batch < 0 ? NULL : hu_import_constant(c, lengths),
	       *at = n ? hu_import_room(c, v->n) : NULL;
	if (at && (lengths->n != v->d[batch] || time == batch))
		hu_import_fail(c, HU_EFILE, "it needs a length for each of %zu sequences", v->d[batch]);
	strides(v, stride);
	for (size_t i = 0; at && c->st == HU_OK && i < v->n; i++) {
		size_t t = i / stride[time] % v->d[time], b = i / stride[batch] % v->d[batch];
		double length = fmin(fmax(n[b], 0), (double)v->d[time]);
		at[i] = (double)i;
		if ((double)t < length)
			at[i] += (length - 1 - 2 * (double)t) * (double)stride[time];
	}
	if (at && c->st == HU_OK) {
		int t = look_up(c, hu_import_plain(c, v), at, hu_import_shape(v->rank, v->d));
		hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
	}
	free(n);
	free(at);
}

/* Cuts or fills axes evenly on both sides to the sizes that input 1 names. */
void
hu_node_center_crop_pad(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double size[HU_RANK], axes[HU_RANK];

	if (!v)
		return;
	int n = hu_import_list(c, NULL, 1, size, HU_RANK), na = hu_import_list(c, "axes", 99, axes, HU_RANK);
	hu_axes x = hu_axes_same(hu_import_shape(v->rank, v->d));
	if (n < 0 || (na > 0 ? na : v->rank) != n) {
		hu_import_fail(c, HU_EFILE, "it needs a size for each axis");
		return;
	}
	for (int i = 0; i < n; i++) {
		int k = na > 0 ? hu_import_axis(c, axes[i], v->rank) : i;
		if (k < 0 || !(size[i] >= 1 && size[i] < 0x1p30)) {
			hu_import_fail(c, HU_EFILE, "an axis cannot have %g elements", size[i]);
			return;
		}
		double more = (double)v->d[k] - size[i];
		x.s.d[k] = (size_t)size[i];
		x.start[k] = more > 0 ? floor(more / 2) : -floor(-more / 2);
	}
	int t = hu_import_move(c, hu_import_plain(c, v), &x);
	hu_import_out(c, 0, v->type, v->rank, x.s.d)->plain = t;
}

/* Ones on a diagonal of a matrix of the value's shape. */
void
hu_node_eye_like(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double k = (double)hu_import_int(c, "k", 0), *x;

	if (!v)
		return;
	if (v->rank != 2) {
		hu_import_fail(c, HU_EFILE, "its value is no matrix");
		return;
	}
	int type = (int)hu_import_int(c, "dtype", v->type);
	x = hu_import_room(c, v->n);
	for (size_t i = 0; x && i < v->n; i++)
		x[i] = (double)(i % v->d[1]) - (double)(i / v->d[1]) == k;
	int t = x ? hu_import_numbers(c, type, 2, v->d, x) : -1;
	free(x);
	hu_import_out(c, 0, type, 2, v->d)->plain = t;
}
