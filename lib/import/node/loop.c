/* SPDX-License-Identifier: Apache-2.0
   Loop and Scan, unrolled: the calls of the body once for each step, where the largest number of steps is known
   beforehand. A condition that the model computes chooses after each step between what it gave and what was before. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 4096 };

/* A loop at work: its body, and what is carried from step to step; rows[k * STEPS + i] is what step i gave of the
   elements that output k collects. */
typedef struct loop {
	const hu_onnx_graph *body;
	hu_value **in, *out, *carried, *rows;
	size_t ncarried, ncollected, steps;
} loop;

static const hu_onnx_graph *
body_of(hu_importing *c)
{
	const hu_onnx_attr *a = hu_import_attr(c, "body");

	if (a && a->ngraphs)
		return a->graphs[0];
	hu_import_fail(c, HU_EFILE, "it has no body");
	return NULL;
}

/* The values of one step as one element of a new axis AXIS, one behind another (or before, where BACK). */
static void
collect(hu_importing *c, const loop *l, size_t k, int64_t axis, int back)
{
	hu_value *first = &l->rows[k * STEPS], y = *first;
	int *t = hu_xcalloc(l->steps + 1, sizeof *t), at;

	y.rank++;
	if (y.rank > HU_RANK) {
		hu_import_fail(c, HU_EUNABLE, "what it collects has more than %d axes", HU_RANK);
		free(t);
		return;
	}
	at = hu_import_axis(c, axis, y.rank);
	for (int j = y.rank - 1; j > at && at >= 0; j--)
		y.d[j] = y.d[j - 1];
	for (size_t i = 0; i < l->steps && at >= 0; i++) {
		hu_value *v = &l->rows[k * STEPS + i];
		y.d[at] = 1;
		if (v->rank != first->rank || memcmp(v->d, first->d, (size_t)v->rank * sizeof *v->d))
			hu_import_fail(c, HU_EUNABLE, "the elements that it collects have several shapes");
		t[back ? l->steps - 1 - i : i] = hu_import_flat(c, hu_import_plain(c, v), hu_import_shape(y.rank, y.d));
	}
	y.d[at < 0 ? 0 : at] = l->steps;
	y.n = first->n * l->steps;
	if (l->steps > 1 && c->st == HU_OK) {
		hu_import_set(c, "axis", at);
		t[0] = hu_import_call(c, "concat", HU_NO_FORMAT, t, (int)l->steps);
	}
	y.plain = t[0];
	y.last = -1;
	hu_import_put(c, l->ncarried + k, &y);
	free(t);
}

static void
begin(hu_importing *c, loop *l, size_t first, size_t ncarried, size_t before)
{
	l->ncarried = ncarried;
	l->ncollected = l->body->nout - before - ncarried;
	l->in = hu_xcalloc(l->body->nin + 1, sizeof *l->in);
	l->out = hu_xcalloc(l->body->nout + 1, sizeof *l->out);
	l->carried = hu_xcalloc(ncarried + 1, sizeof *l->carried);
	l->rows = hu_xcalloc(l->ncollected * STEPS + 1, sizeof *l->rows);
	for (size_t i = 0; i < ncarried; i++) {
		hu_value *v = hu_import_in(c, first + i);
		if (v)
			l->carried[i] = *v;
		else
			hu_import_fail(c, HU_EFILE, "its value %zu has no start", i);
	}
}

/* Chooses between what the step gave and what was CARRIED before it, by *going, which is the truth value so far, and
   joins what the step says of going on to that. */
static void
hold_or_go(hu_importing *c, loop *l, const hu_value *was, hu_value *going)
{
	hu_value *more = &l->out[0];

	hu_import_chooses(c);
	if (l->ncollected)
		hu_import_fail(c, HU_EUNABLE, "how many elements it collects depends on the model's inputs");
	for (size_t k = 0; k < l->ncarried && c->st == HU_OK; k++) {
		hu_value old = was[k];
		l->carried[k] = hu_import_either(c, going, &l->carried[k], &old);
	}
	if (c->st != HU_OK)
		return;
	int a = hu_import_flat(c, hu_import_plain(c, going), hu_shape1(1)),
	    b = hu_import_flat(c, hu_import_plain(c, more), hu_shape1(1));
	*going = (hu_value){ .name = "going", .type = HU_ONNX_BOOL, .n = 1, .last = -1 };
	going->plain = hu_import_truth(c, "logical_and", a, b);
}

/* One step: the body on l->in, whose outputs from BEFORE on are carried and collected. */
static void
step(hu_importing *c, loop *l, size_t before)
{
	hu_import_body(c, l->body, l->in, l->body->nin, l->out, l->body->nout, 0);
	for (size_t k = 0; k < l->ncarried && c->st == HU_OK; k++)
		l->carried[k] = l->out[before + k];
	for (size_t k = 0; k < l->ncollected && c->st == HU_OK; k++)
		l->rows[k * STEPS + l->steps] = l->out[before + l->ncarried + k];
	l->steps++;
}

static void
release(loop *l)
{
	free(l->in);
	free(l->out);
	free(l->carried);
	free(l->rows);
}

/* The truth value of V, which must be a constant; 1 where there is none. */
static int
goes_on(hu_importing *c, hu_value *v)
{
	double *x = v ? hu_import_constant(c, v) : NULL;
	int yes = !v || (x && v->n && x[0] != 0);

	free(x);
	return yes;
}

void
hu_node_loop(hu_importing *c)
{
	hu_value *most = hu_import_in(c, 0), *condition = hu_import_in(c, 1), number, truth;
	loop l = { .body = body_of(c) };
	double trips = STEPS + 1, *x;

	if (!l.body || c->st != HU_OK)
		return;
	size_t n = c->node->nin < 2 ? 0 : c->node->nin - 2;
	if (l.body->nin != n + 2 || l.body->nout < n + 1) {
		hu_import_fail(c, HU_EFILE, "its body has other inputs and outputs than the node");
		return;
	}
	if (most) {
		x = hu_import_constant(c, most);
		trips = x && most->n ? x[0] : -1;
		free(x);
	}
	begin(c, &l, 2, n, 1);
	number = (hu_value){ .name = "step", .type = HU_ONNX_INT64, .n = 1, .last = -1 };
	truth = (hu_value){ .name = "condition", .type = HU_ONNX_BOOL, .n = 1, .last = -1 };
	int asks = !c->asking && condition && !hu_import_is_constant(c, condition), yes = asks || goes_on(c, condition);
	hu_value going = asks ? *condition : truth, *was = hu_xcalloc(n + 1, sizeof *was);
	if (!asks)
		going.plain = hu_import_number(c, HU_ONNX_BOOL, 1);
	while (c->st == HU_OK && yes && (double)l.steps < trips) {
		if (l.steps == STEPS) {
			hu_import_fail(c, HU_EUNABLE, "it takes more than %d steps", STEPS);
			break;
		}
		number.plain = hu_import_number(c, HU_ONNX_INT64, (double)l.steps);
		truth.plain = hu_import_number(c, HU_ONNX_BOOL, 1);
		l.in[0] = &number;
		l.in[1] = &truth;
		for (size_t k = 0; k < n; k++)
			l.in[k + 2] = &l.carried[k];
		memcpy(was, l.carried, n * sizeof *was);
		step(c, &l, 1);
		asks |= !c->asking && c->st == HU_OK && !hu_import_is_constant(c, &l.out[0]);
		if (asks && c->st == HU_OK)
			hold_or_go(c, &l, was, &going);
		else
			yes = c->st == HU_OK && goes_on(c, &l.out[0]);
	}
	free(was);
	for (size_t k = 0; k < n; k++)
		hu_import_put(c, k, &l.carried[k]);
	for (size_t k = 0; k < l.ncollected && c->st == HU_OK; k++) {
		if (!l.steps)
			hu_import_fail(c, HU_EUNABLE, "it takes no step, so that it collects no elements");
		else
			collect(c, &l, k, 0, 0);
	}
	release(&l);
}

/* Entry K of the node's list NAME, 0 where it has none. */
static int64_t
entry(hu_importing *c, const char *name, size_t k)
{
	const hu_onnx_attr *a = hu_import_attr(c, name);

	return a && k < a->nints ? a->ints[k] : 0;
}

/* Element I of V along AXIS, without that axis. */
static hu_value
element(hu_importing *c, hu_value *v, int axis, size_t i)
{
	hu_value y = *v;
	int t = hu_import_part(c, hu_import_plain(c, v), axis, i, 1);

	for (int j = axis; j + 1 < v->rank; j++)
		y.d[j] = y.d[j + 1];
	y.rank--;
	y.n = v->n / v->d[axis];
	y.plain = hu_import_flat(c, t, hu_import_shape(y.rank, y.d));
	y.last = -1;
	return y;
}

void
hu_node_scan(hu_importing *c)
{
	enum { MOST = 32 };
	loop l = { .body = body_of(c) };
	hu_value *read[MOST], now[MOST];
	size_t n = c->node->nin, length = 0;
	int64_t nread = hu_import_int(c, "num_scan_inputs", 0);
	int axis[MOST];

	if (!l.body)
		return;
	if (nread < 1 || nread > MOST || (size_t)nread > n || l.body->nin != n || l.body->nout < n - (size_t)nread) {
		hu_import_fail(c, HU_EFILE, "its body has other inputs and outputs than the node");
		return;
	}
	n -= (size_t)nread;
	for (size_t k = 0; k < (size_t)nread; k++) {
		if (!(read[k] = hu_import_in(c, n + k)))
			return;
		axis[k] = hu_import_axis(c, entry(c, "scan_input_axes", k), read[k]->rank);
		if (axis[k] < 0 || !read[k]->rank || (k && read[k]->d[axis[k]] != length)) {
			hu_import_fail(c, HU_EFILE, "the sequences that it reads have several lengths");
			return;
		}
		length = read[k]->d[axis[k]];
	}
	if (!length || length > STEPS) {
		hu_import_fail(c, HU_EUNABLE, "%zu steps; from 1 to %d are possible", length, STEPS);
		return;
	}
	begin(c, &l, 0, n, 0);
	for (size_t i = 0; i < length && c->st == HU_OK; i++) {
		for (size_t k = 0; k < n; k++)
			l.in[k] = &l.carried[k];
		for (size_t k = 0; k < (size_t)nread; k++) {
			now[k] =
				element(c, read[k], axis[k], entry(c, "scan_input_directions", k) ? length - 1 - i : i);
			l.in[n + k] = &now[k];
		}
		step(c, &l, 0);
	}
	for (size_t k = 0; k < n; k++)
		hu_import_put(c, k, &l.carried[k]);
	for (size_t k = 0; k < l.ncollected && c->st == HU_OK; k++)
		collect(c, &l, k, entry(c, "scan_output_axes", k), entry(c, "scan_output_directions", k) != 0);
	release(&l);
}
