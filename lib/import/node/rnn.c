/* SPDX-License-Identifier: Apache-2.0
   LSTM, GRU and RNN, step by step: the products with the inputs of all steps at once, then for each step the product
   with the state and the gates. DynamicQuantizeLSTM's products are of codes: weights of 8 bits, times inputs, and in
   each step the state, that get codes by their own ends. */
#include "lib/import/importing.h"

#include <stdio.h>
#include <string.h>

enum { LSTM_GATES = 4, GRU_GATES = 3, STEPS = 4096 };

/* One direction at work: sizes, the tensors of its weights, and the names of its activations in lib/op. */
typedef struct cell {
	size_t seq, batch, hidden;
	int gates, dir, reverse;
	int xw, r, rb;    /* X W + b for all steps, the state's weights, and GRU's bias of them */
	int coded, scale; /* weights are codes, and those of r have these scales */
	int pairs[2];     /* products of codes with w and r saturate by pairs of terms */
	int peep[3];      /* LSTM's peepholes i, o, f, or -1 */
	const char *act[3];
} cell;

/* Direction D of V, whose first axis are directions, in shape S. */
static int
of_direction(hu_importing *c, hu_value *v, int d, hu_shape s)
{
	hu_shape all = { .rank = s.rank + 1, .d = { v->d[0] } };

	for (int i = 0; i < s.rank; i++)
		all.d[i + 1] = s.d[i];
	int t = hu_import_flat(c, hu_import_plain(c, v), all);
	return hu_import_flat(c, hu_import_part(c, t, 0, (size_t)d, 1), s);
}

/* Columns N H to (N + 1) H of the gates. */
static int
gate(hu_importing *c, const cell *k, int t, int n)
{
	return hu_import_part(c, t, 1, (size_t)n * k->hidden, k->hidden);
}

static int
peeped(hu_importing *c, const cell *k, int t, int which, int state)
{
	if (k->peep[which] < 0)
		return t;
	int p = hu_import_expand(c, k->peep[which], hu_shape2(k->batch, k->hidden));
	return hu_import_call2(c, "add", t, hu_import_call2(c, "mul", p, state));
}

static int
lstm_step(hu_importing *c, const cell *k, int xw, int h, int *state)
{
	int hr = -1;
	if (k->coded) {
		hr = hu_quantise_dynamic_product(c, h, k->r, k->scale, k->pairs[1]);
	} else {
		hu_import_set(c, "tb", 1);
		hr = hu_import_call2(c, "matmul", h, k->r);
	}
	int g = hu_import_call2(c, "add", xw, hr);
	int i = hu_import_call1(c, k->act[0], peeped(c, k, gate(c, k, g, 0), 0, *state)),
	    f = hu_import_call1(c, k->act[0], peeped(c, k, gate(c, k, g, 2), 2, *state)),
	    n = hu_import_call1(c, k->act[1], gate(c, k, g, 3));
	int kept = hu_import_call2(c, "mul", f, *state);
	*state = hu_import_call2(c, "add", kept, hu_import_call2(c, "mul", i, n));
	int o = hu_import_call1(c, k->act[0], peeped(c, k, gate(c, k, g, 1), 1, *state));
	return hu_import_call2(c, "mul", o, hu_import_call1(c, k->act[2], *state));
}

static int
gru_step(hu_importing *c, const cell *k, int xw, int h, int before)
{
	int zr = hu_import_part(c, k->r, 0, 0, 2 * k->hidden), n = hu_import_part(c, k->r, 0, 2 * k->hidden, k->hidden);
	hu_import_set(c, "tb", 1);
	int hz = hu_import_call2(c, "matmul", h, zr),
	    bz = k->rb < 0 ? -1 : hu_import_part(c, k->rb, 0, 0, 2 * k->hidden),
	    bn = k->rb < 0 ? -1 : hu_import_part(c, k->rb, 0, 2 * k->hidden, k->hidden);
	if (k->rb >= 0)
		hz = hu_import_call2(c, "bias", hz, bz);
	int g = hu_import_call2(c, "add", hu_import_part(c, xw, 1, 0, 2 * k->hidden), hz);
	int z = hu_import_call1(c, k->act[0], gate(c, k, g, 0)), r = hu_import_call1(c, k->act[0], gate(c, k, g, 1)),
	    hn;
	if (before) { /* the product first, then the reset */
		hu_import_set(c, "tb", 1);
		hn = hu_import_call2(c, "matmul", h, n);
		hn = k->rb < 0 ? hn : hu_import_call2(c, "bias", hn, bn);
		hn = hu_import_call2(c, "mul", r, hn);
	} else {
		int reset = hu_import_call2(c, "mul", r, h);
		hu_import_set(c, "tb", 1);
		hn = hu_import_call2(c, "matmul", reset, n);
		hn = k->rb < 0 ? hn : hu_import_call2(c, "bias", hn, bn);
	}
	int now = hu_import_call1(c, k->act[1], hu_import_call2(c, "add", gate(c, k, xw, 2), hn)), one;
	if (now < 0)
		return -1;
	one = hu_import_expand(c, hu_import_number(c, HU_ONNX_FLOAT, 1), hu_shape2(k->batch, k->hidden));
	int fresh = hu_import_call2(c, "mul", hu_import_call2(c, "sub", one, z), now);
	return hu_import_call2(c, "add", fresh, hu_import_call2(c, "mul", z, h));
}

static int
rnn_step(hu_importing *c, const cell *k, int xw, int h)
{
	hu_import_set(c, "tb", 1);
	return hu_import_call1(c, k->act[0], hu_import_call2(c, "add", xw, hu_import_call2(c, "matmul", h, k->r)));
}

/* The names of the direction's activations; only those of lib/op that have no parameters. */
static int
activations(hu_importing *c, cell *k, int each)
{
	static const char *const known[][2] = { { "Sigmoid", "sigmoid" }, { "Tanh", "tanh" }, { "Relu", "relu" } };
	const hu_onnx_attr *a = hu_import_attr(c, "activations");

	k->act[0] = each == 1 ? "tanh" : "sigmoid";
	k->act[1] = k->act[2] = "tanh";
	for (int i = 0; a && i < each && (size_t)(k->dir * each + i) < a->nstrings; i++) {
		const char *name = a->strings[k->dir * each + i];
		k->act[i] = NULL;
		for (size_t j = 0; j < sizeof known / sizeof *known; j++)
			if (!strcmp(known[j][0], name))
				k->act[i] = known[j][1];
		if (!k->act[i])
			return hu_import_fail(c, HU_EUNABLE, "the activation %.40s is not possible in it", name);
	}
	return 0;
}

/* The sum of the halves of bias B for direction D, whose gates are G; of GRU the first half alone. */
static int
biased(hu_importing *c, const cell *k, int t, hu_value *b)
{
	size_t n = (size_t)k->gates * k->hidden;

	if (!b)
		return t;
	int both = of_direction(c, b, k->dir, hu_shape1(2 * n)), w = hu_import_part(c, both, 0, 0, n);
	if (k->gates != GRU_GATES)
		w = hu_import_call2(c, "add", w, hu_import_part(c, both, 0, n, n));
	return hu_import_call2(c, "bias", t, w);
}

/* The state before the first step: input I, or zeros. */
static int
initial(hu_importing *c, const cell *k, size_t i, int type)
{
	hu_value *v = hu_import_in(c, i);

	if (!v || !v->n)
		return hu_import_expand(c, hu_import_number(c, type, 0), hu_shape2(k->batch, k->hidden));
	if (hu_import_int(c, "layout", 0)) {
		int t = hu_import_part(c, hu_import_plain(c, v), 1, (size_t)k->dir, 1);
		return hu_import_flat(c, t, hu_shape2(k->batch, k->hidden));
	}
	return of_direction(c, v, k->dir, hu_shape2(k->batch, k->hidden));
}

/* The codes of weights V of the direction at hand, inputs by gates, less the zero point that input I + 1 is; *SCALE
   gets the scale, input I, of each of the N gates. */
static int
coded(hu_importing *c, const cell *k, hu_value *v, size_t i, size_t n, int *scale)
{
	hu_value *s = hu_import_in(c, i), *zero = hu_import_in(c, i + 1);
	size_t dirs = v->d[0];

	if (!s || (s->n != dirs && s->n != dirs * n) || (zero && (zero->n != s->n || zero->rank != s->rank))) {
		hu_import_fail(
			c, HU_EFILE, "its weights need a scale and a zero point for each direction, or each gate");
		return -1;
	}
	int one = of_direction(c, s, k->dir, hu_shape1(s->n / dirs)),
	    all = hu_quantise_centred(c, v, zero && zero->n ? zero : NULL);
	*scale = hu_import_expand(c, one, hu_shape1(n));
	all = all < 0 ? -1 : hu_import_part(c, all, 0, (size_t)k->dir, 1);
	return hu_import_flat(c, all, hu_shape2(v->d[1], n));
}

/* All steps of one direction; *Y gets [seq, 1, batch, hidden], *H and *C the last state. */
static void
direction(hu_importing *c, cell *k, hu_value *x, int *y, int *h, int *state)
{
	hu_value *w = hu_import_in(c, 1), *r = hu_import_in(c, 2), *b = hu_import_in(c, 3), *p = hu_import_in(c, 7);
	size_t n = (size_t)k->gates * k->hidden, in = x->n / (k->seq * k->batch);
	int step[STEPS], before = hu_import_int(c, "linear_before_reset", 0) != 0, t = hu_import_plain(c, x);

	if (hu_import_int(c, "layout", 0)) {
		hu_axes swap = hu_axes_same(hu_shape3(k->seq, k->batch, in));
		swap.from[0] = 1;
		swap.from[1] = 0;
		t = hu_import_move(c, t, &swap);
	}
	t = hu_import_flat(c, t, hu_shape2(k->seq * k->batch, in));
	if (k->coded) {
		int scale = -1, weights = coded(c, k, w, 8, n, &scale);
		k->pairs[0] = hu_import_pairs_with(c, w, hu_import_in(c, 9));
		k->pairs[1] = hu_import_pairs_with(c, r, hu_import_in(c, 11));
		k->xw = biased(c, k, hu_quantise_dynamic_product(c, t, weights, scale, k->pairs[0]), b);
		k->r = coded(c, k, r, 10, n, &k->scale);
	} else {
		int weights = of_direction(c, w, k->dir, hu_shape2(n, in));
		hu_import_set(c, "tb", 1);
		k->xw = biased(c, k, hu_import_call2(c, "matmul", t, weights), b);
		k->r = of_direction(c, r, k->dir, hu_shape2(n, k->hidden));
	}
	k->rb = k->gates == GRU_GATES && b ? hu_import_part(c, of_direction(c, b, k->dir, hu_shape1(2 * n)), 0, n, n)
					   : -1;
	for (int i = 0; i < 3; i++)
		k->peep[i] = p && k->gates == LSTM_GATES
				     ? hu_import_part(c, of_direction(c, p, k->dir, hu_shape1(3 * k->hidden)), 0,
					       (size_t)i * k->hidden, k->hidden)
				     : -1;
	*h = initial(c, k, 5, x->type);
	*state = k->gates == LSTM_GATES ? initial(c, k, 6, x->type) : -1;
	for (size_t i = 0; i < k->seq && c->st == HU_OK; i++) {
		size_t at = k->reverse ? k->seq - 1 - i : i;
		int xw = hu_import_part(c, k->xw, 0, at * k->batch, k->batch);
		*h = k->gates == LSTM_GATES  ? lstm_step(c, k, xw, *h, state)
		     : k->gates == GRU_GATES ? gru_step(c, k, xw, *h, before)
					     : rnn_step(c, k, xw, *h);
		step[at] = *h;
	}
	if (k->seq > 1)
		hu_import_set(c, "axis", 0);
	*y = c->st != HU_OK ? -1 : k->seq > 1 ? hu_import_call(c, "concat", HU_NO_FORMAT, step, (int)k->seq) : step[0];
	*y = hu_import_flat(c, *y, hu_shape4(k->seq, 1, k->batch, k->hidden));
}

/* T of [directions, batch, hidden] as output I, with the batch first where the layout says so. */
static void
last_state(hu_importing *c, const cell *k, size_t i, int type, const int *t, int dirs)
{
	int all = hu_import_flat(c, t[0], hu_shape3(1, k->batch, k->hidden)),
	    batch_first = hu_import_int(c, "layout", 0) != 0;
	size_t d[3] = { (size_t)dirs, k->batch, k->hidden };

	if (dirs == 2) {
		int second = hu_import_flat(c, t[1], hu_shape3(1, k->batch, k->hidden));
		hu_import_set(c, "axis", 0);
		all = hu_import_call2(c, "concat", all, second);
	}
	if (batch_first) {
		hu_axes x = hu_axes_same(hu_shape3(k->batch, (size_t)dirs, k->hidden));
		x.from[0] = 1;
		x.from[1] = 0;
		all = hu_import_move(c, all, &x);
		d[0] = k->batch;
		d[1] = (size_t)dirs;
	}
	hu_import_out(c, i, type, 3, d)->plain = all;
}

static int
whole_sequences(hu_importing *c, const cell *k)
{
	hu_value *v = hu_import_in(c, 4);
	double n[1024];
	int got = v ? hu_import_list(c, NULL, 4, n, 1024) : 0;

	for (int i = 0; i < got; i++)
		if (n[i] != (double)k->seq)
			return hu_import_fail(c, HU_EUNABLE, "sequences of different lengths are not possible");
	return c->st == HU_OK ? 0 : -1;
}

void
hu_node_recurrent(hu_importing *c)
{
	hu_value *x = hu_import_in(c, 0), *w = hu_import_in(c, 1), *r = hu_import_in(c, 2);
	const char *way = hu_import_text(c, "direction", "forward");
	int dirs = !strcmp(way, "bidirectional") ? 2 : 1, batch_first = hu_import_int(c, "layout", 0) != 0;
	int y[2], h[2], state[2];

	if (!x || !w || !r)
		return;
	int is_coded = !strcmp(c->node->op, "DynamicQuantizeLSTM"), lstm = is_coded || !strcmp(c->node->op, "LSTM");
	cell k = { .gates = lstm ? LSTM_GATES : !strcmp(c->node->op, "GRU") ? GRU_GATES : 1, .coded = is_coded };
	int gates = 1 + is_coded, from = 2 - is_coded; /* the axes of weights: codes are transposed */
	if (x->rank != 3 || w->rank != 3 || r->rank != 3 || w->d[0] != (size_t)dirs || r->d[0] != (size_t)dirs ||
		r->d[gates] != (size_t)k.gates * r->d[from] || w->d[gates] != r->d[gates] || w->d[from] != x->d[2]) {
		hu_import_fail(c, HU_EFILE, "the shapes of its input and weights do not fit");
		return;
	}
	if (hu_import_int(c, "hidden_size", (int64_t)r->d[from]) != (int64_t)r->d[from]) {
		hu_import_fail(c, HU_EFILE, "its hidden_size is not that of its weights");
		return;
	}
	k.seq = x->d[batch_first];
	k.batch = x->d[!batch_first];
	k.hidden = r->d[from];
	if (k.seq > STEPS || hu_import_real(c, "clip", 0) != 0 || hu_import_int(c, "input_forget", 0)) {
		hu_import_fail(c, HU_EUNABLE, "%zu steps; at most %d are possible, and neither clip nor input_forget",
			k.seq, STEPS);
		return;
	}
	if (whole_sequences(c, &k) < 0)
		return;
	for (int d = 0; d < dirs && c->st == HU_OK; d++) {
		k.dir = d;
		k.reverse = d || !strcmp(way, "reverse");
		if (activations(c, &k, k.gates == LSTM_GATES ? 3 : k.gates == GRU_GATES ? 2 : 1) < 0)
			return;
		direction(c, &k, x, &y[d], &h[d], &state[d]);
	}
	if (dirs == 2)
		hu_import_set(c, "axis", 1);
	int all = dirs == 2 ? hu_import_call2(c, "concat", y[0], y[1]) : y[0];
	size_t out[4] = { k.seq, (size_t)dirs, k.batch, k.hidden };
	if (batch_first) {
		hu_axes swap = hu_axes_same(hu_shape4(k.batch, k.seq, (size_t)dirs, k.hidden));
		swap.from[0] = 2;
		swap.from[1] = 0;
		swap.from[2] = 1;
		all = hu_import_move(c, all, &swap);
		memcpy(out, swap.s.d, sizeof out);
	}
	hu_import_out(c, 0, x->type, 4, out)->plain = all;
	last_state(c, &k, 1, x->type, h, dirs);
	if (k.gates == LSTM_GATES)
		last_state(c, &k, 2, x->type, state, dirs);
}
