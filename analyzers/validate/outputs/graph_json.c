/* SPDX-License-Identifier: Apache-2.0
   The model as a graph in JSON: its nodes in the program's order, each with those whose results it reads. */
#include "analyzers/validate/outputs/graph_json.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Sets place[call] to the number of the call's node: calls of one layer are one node, as --sensitivity has them. Sets
   first[node] to the node's first call. Returns how many nodes there are. */
static size_t
number_nodes(size_t *place, int *first, const hu_program *p)
{
	json_t *seen = json_object(), *at;
	size_t n = 0;

	for (int i = 0; i < p->nc; i++) {
		if (!(at = json_object_get(seen, p->c[i].layer))) {
			first[n] = i;
			json_object_set_new(seen, p->c[i].layer, at = json_integer((json_int_t)n++));
		}
		place[i] = (size_t)json_integer_value(at);
	}
	json_decref(seen);
	return n;
}

/* Appends node FROM to the nodes that LIST has already, once; a node's own results are none of its operands. */
static void
add_once(json_t *list, size_t from, size_t self)
{
	json_t *x;
	size_t i;

	if (from == self)
		return;
	json_array_foreach(list, i, x) if ((size_t)json_integer_value(x) == from) return;
	json_array_append_new(list, json_integer((json_int_t)from));
}

/* The names of those ports whose tensor is T, or, where T is negative, of none. */
static void
add_ports(json_t *list, const hu_port *port, size_t n, int t)
{
	for (size_t i = 0; i < n; i++)
		if (t >= 0 && port[i].tensor == t)
			json_array_append_new(list, json_string(port[i].name));
}

/* Adds what call I reads and writes to its node's row; what no call writes is an input of the model or a constant. */
static void
add_call(json_t *row, const hu_imported *m, const size_t *place, int i)
{
	const hu_call *c = &m->p->c[i];
	json_t *from = json_object_get(row, "from"), *in = json_object_get(row, "inputs"),
	       *out = json_object_get(row, "outputs");

	for (int k = 0; k < c->nin; k++) {
		int producer = c->in[k] < 0 ? -1 : m->p->t[c->in[k]].producer;
		if (producer >= 0)
			add_once(from, place[producer], place[i]);
		else
			add_ports(in, m->in, m->nin, c->in[k]);
	}
	for (int k = 0; k < c->nout; k++)
		add_ports(out, m->out, m->nout, c->out[k]);
}

json_t *
hu_graph_json(const hu_imported *m)
{
	size_t calls = (size_t)m->p->nc, *place = hu_xcalloc(calls + 1, sizeof *place), n;
	int *first = hu_xcalloc(calls + 1, sizeof *first);
	json_t *rows = json_array();

	n = number_nodes(place, first, m->p);
	for (size_t k = 0; k < n; k++) {
		const char *name = m->node[first[k]], *layer = m->p->c[first[k]].layer;
		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:s, s:[], s:[], s:[]}", "node", *name ? name : layer, "layer",
				      layer, "operator", m->op[first[k]], "from", "inputs", "outputs"));
	}
	for (size_t i = 0; i < calls; i++)
		add_call(json_array_get(rows, place[i]), m, place, (int)i);
	free(first);
	free(place);
	return rows;
}
