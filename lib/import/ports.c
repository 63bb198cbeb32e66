/* SPDX-License-Identifier: Apache-2.0
   The inputs and outputs of a model: shapes as the model or the user has them, and the tensors that they become. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shape of input V: what the user gives, else the model's. */
static int
input_shape(hu_importing *c, const hu_onnx_value *v, size_t *d)
{
	const hu_given *whole = NULL;
	int rank = v->rank;

	for (size_t i = 0; i < c->ngiven; i++)
		if (c->given[i].rank && !strcmp(c->given[i].name, v->name))
			whole = &c->given[i];
	if (rank < 0 && !whole)
		return hu_import_fail(c, HU_EINVAL,
			"input '%.120s' has no shape in the model; give it: --shape %.120s=2x3", v->name, v->name);
	if (whole && rank >= 0 && whole->rank != rank)
		return hu_import_fail(
			c, HU_EINVAL, "input '%.120s' has %d dimensions, and %d are given", v->name, rank, whole->rank);
	rank = whole ? whole->rank : rank;
	if (rank > HU_RANK)
		return hu_import_fail(c, HU_EUNABLE, "input '%.120s' has %d dimensions; at most %d are possible",
			v->name, rank, HU_RANK);
	for (int i = 0; i < rank; i++) {
		int64_t n = v->rank < 0 ? -1 : v->dim[i].n;
		const char *param = v->rank < 0 ? "" : v->dim[i].param;
		d[i] = whole ? whole->d[i] : n > 0 ? (size_t)n : 0;
		for (size_t k = 0; k < c->ngiven && !d[i]; k++)
			if (!c->given[k].rank && !c->given[k].value && *param && !strcmp(c->given[k].name, param))
				d[i] = c->given[k].d[0];
		if (!d[i] && !whole) /* data may have none along an axis, such as a past of length 0 */
			return hu_import_fail(c, HU_EINVAL,
				"dimension %d%s%.60s%s of input '%.120s' is open; give it: --shape %.120s=…", i,
				*param ? " (" : "", param, *param ? ")" : "", v->name, *param ? param : v->name);
		if (whole && n > 0 && (size_t)n != whole->d[i])
			return hu_import_fail(c, HU_EINVAL,
				"dimension %d of input '%.120s' is %lld in the model, and %zu is given", i, v->name,
				(long long)n, whole->d[i]);
	}
	return rank;
}

static int
is_constant_input(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->ninit; i++)
		if (!strcmp(g->init[i].name, name))
			return 1;
	return 0;
}

/* Input V of this shape as a constant where the user's data have a single number for it, as *tensor. */
static int
fixed(hu_importing *c, const hu_onnx_value *v, int rank, const size_t *d, int *tensor)
{
	const double *is = NULL;
	size_t n = rank ? d[0] : 1;

	for (size_t i = 0; i < c->ngiven && rank < 2; i++)
		if (c->given[i].value && !strcmp(c->given[i].name, v->name))
			is = c->given[i].value;
	double *x = is ? hu_import_room(c, n) : NULL;
	for (size_t i = 0; x && i < n; i++)
		x[i] = *is;
	*tensor = x ? hu_import_numbers(c, v->type, rank, d, x) : -1;
	free(x);
	return is != NULL;
}

/* The tensor of an input. */
static int
variable(hu_importing *c, const hu_onnx_value *v, int rank, const size_t *d)
{
	char name[140];

	hu_import_name_layer(c, v->name);
	snprintf(name, sizeof name, "input.%s", c->layer);
	for (int i = 2; hu_program_find(c->p, name) >= 0; i++)
		snprintf(name, sizeof name, "input.%.100s_%d", c->layer, i);
	int id = hu_program_tensor(c->p, name, hu_import_format(c, v->type), hu_import_shape(rank, d),
		hu_import_whole(v->type) ? HU_OTHER : HU_ACTIVATION);
	while (c->nconstant <= (size_t)id) {
		HU_GROW(c->constant, c->nconstant, c->constantcap);
		c->constant[c->nconstant++] = (hu_tensor){ .data = NULL };
	}
	if (c->asking && c->asking->fill) {
		hu_tensor *t = &c->constant[id];
		*t = (hu_tensor){ .format = c->p->t[id].format, .shape = c->p->t[id].shape };
		t->n = hu_count(t->shape);
		if (!(t->data = hu_alloc(t->n * hu_element_size(t->format) + 1)))
			return hu_import_fail(c, HU_ENOMEM, "no memory for an input of %zu elements", t->n);
		c->asking->fill(c->asking->of, v->name, t);
		hu_asking_mark(c, id);
	}
	return id;
}

void
hu_import_inputs(hu_importing *c, hu_imported *m, const hu_onnx_graph *g)
{
	m->in = hu_xcalloc(g->nin + 1, sizeof *m->in);
	for (size_t i = 0; i < g->nin && c->st == HU_OK; i++) {
		const hu_onnx_value *v = &g->in[i];
		size_t d[HU_RANK] = { 0 };
		if (is_constant_input(g, v->name))
			continue;
		int rank = input_shape(c, v, d);
		hu_format_id f = hu_import_format(c, v->type);
		if (f == HU_NO_FORMAT)
			hu_import_fail(c, HU_EUNABLE, "input '%.120s' has elements of type %s, which are no numbers",
				v->name, hu_onnx_type_name(v->type));
		hu_value *to = c->st == HU_OK ? hu_import_value(c, c->scope, v->name, v->type, rank, d) : NULL;
		if (!to)
			return;
		if (!to->n)
			to->plain = hu_import_numbers(c, v->type, rank, d, NULL);
		else if (!fixed(c, v, rank, d, &to->plain))
			to->plain = variable(c, v, rank, d);
		if (to->plain < 0)
			return;
		hu_port *port = &m->in[m->nin++];
		*port = (hu_port){ hu_xstrdup(v->name), to->plain, v->type, rank, 0, { 0 } };
		memcpy(port->d, d, sizeof port->d);
		if (to->n)
			to->plain = hu_typing_round(c, to->plain, v->type);
	}
}

void
hu_import_outputs(hu_importing *c, hu_imported *m, const hu_onnx_graph *g)
{
	m->out = hu_xcalloc(g->nout + 1, sizeof *m->out);
	c->node = c->own = NULL;
	snprintf(c->layer, sizeof c->layer, "output");
	for (size_t i = 0; i < g->nout && c->st == HU_OK; i++) {
		hu_value *v = hu_import_find(c, g->out[i].name);
		if (v && v->list)
			hu_import_fail(c, HU_EUNABLE,
				"output '%.120s' is a sequence of tensors; make each tensor an output of the model",
				v->name);
		if (!v || (v->plain < 0 && v->last < 0)) {
			hu_import_fail(c, HU_EUNABLE, "nothing computes the model's output '%.120s'", g->out[i].name);
			return;
		}
		v = hu_typing_given(c, v);
		int t = hu_import_plain(c, v);
		if (t < 0)
			return;
		hu_port *port = &m->out[m->nout++];
		*port = (hu_port){ hu_xstrdup(v->name), t, v->type, v->rank, 0, { 0 } };
		memcpy(port->d, v->d, sizeof port->d);
	}
}
