/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/list_ops.h"

#include "lib/base/console/show_json.h"
#include "lib/base/show.h"
#include "lib/base/table/fields.h"
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 3 }; /* nodes of an operator that are named in print */

/* Appends G's nodes and those of the graphs in it; TO NULL: only counts them. */
static size_t
collect(const hu_onnx *m, const hu_onnx_graph *g, const char *function, hu_listed *to, size_t n)
{
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		const char *how = hu_onnx_function_of(m, x) ? "function" : hu_onnx_arithmetic(m, x);
		if (to)
			to[n] = (hu_listed){ x, function, how };
		n++;
		for (size_t k = 0; k < x->nattr; k++)
			for (size_t j = 0; j < x->attr[k].ngraphs; j++)
				n = collect(m, x->attr[k].graphs[j], function, to, n);
	}
	return n;
}

/* An operator that the graphs inside it compute: those are listed by themselves. */
static const char *
control(const hu_onnx_node *x)
{
	return !*x->domain && !strcmp(x->op, "If") ? "both branches" : NULL;
}

static int
by_operator(const void *a, const void *b)
{
	const hu_listed *x = a, *y = b;
	int c = strcmp(x->node->domain, y->node->domain);

	if (!c)
		c = strcmp(x->node->op, y->node->op);
	if (!c)
		c = (y->arithmetic != NULL) - (x->arithmetic != NULL);
	return c ? c : strcmp(x->node->name, y->node->name);
}

void
hu_op_list_init(hu_op_list *l, const hu_onnx *m)
{
	size_t n = collect(m, m->graph, NULL, NULL, 0);

	*l = (hu_op_list){ .m = m };
	for (size_t i = 0; i < m->nfunction; i++)
		n = collect(m, m->function[i].body, m->function[i].name, NULL, n);
	l->node = hu_xcalloc(n + 1, sizeof *l->node);
	l->op = hu_xcalloc(n + 1, sizeof *l->op);
	l->nnode = collect(m, m->graph, NULL, l->node, 0);
	for (size_t i = 0; i < m->nfunction; i++)
		l->nnode = collect(m, m->function[i].body, m->function[i].name, l->node, l->nnode);
	for (size_t i = 0; i < n; i++)
		if (!l->node[i].arithmetic)
			l->node[i].arithmetic = control(l->node[i].node);
	qsort(l->node, n, sizeof *l->node, by_operator);
	for (size_t i = 0; i < n; i++) {
		const hu_listed *a = &l->node[i], *b = i ? a - 1 : NULL;
		int same = b && !strcmp(a->node->domain, b->node->domain) && !strcmp(a->node->op, b->node->op) &&
			   (a->arithmetic != NULL) == (b->arithmetic != NULL);
		if (!same)
			l->op[l->nop++].first = i;
		l->op[l->nop - 1].n++;
	}
}

void
hu_op_list_release(hu_op_list *l)
{
	free(l->node);
	free(l->op);
	memset(l, 0, sizeof *l);
}

static const char *
domain_of(const hu_onnx_node *x)
{
	return *x->domain ? hu_shown(x->domain) : "ai.onnx";
}

/* FUNCTION/NODE, for the node's own name alone where it stands in the graph; to be freed. */
static char *
name_of(const hu_listed *x)
{
	return x->function ? hu_xprintf("%s/%s", hu_shown(x->function), hu_shown(x->node->name))
			   : hu_xstrdup(hu_shown(x->node->name));
}

/* What is not known: how many operators, and how many nodes. */
static size_t
unknown(const hu_op_list *l, size_t *nodes)
{
	size_t ops = 0;

	*nodes = 0;
	for (size_t i = 0; i < l->nop; i++)
		if (!l->node[l->op[i].first].arithmetic) {
			ops++;
			*nodes += l->op[i].n;
		}
	return ops;
}

static void
print_unknown(const hu_op_list *l, const hu_listed_op *o)
{
	const hu_listed *x = &l->node[o->first];

	printf("  %s, %zu node%s:", hu_shown(x->node->op), o->n, o->n == 1 ? "" : "s");
	for (size_t i = 0; i < o->n && i < NAMED; i++) {
		char *name = name_of(&x[i]);
		printf("%s %s", i ? "," : "", *name ? name : "(no name)");
		free(name);
	}
	if (o->n > NAMED)
		printf(" and %zu more", o->n - NAMED);
	puts("");
}

/* The nodes whose arithmetic is known, and which ask what the model computes of its inputs. */
static void
print_need_constants(const hu_onnx *m)
{
	const hu_onnx_node **list;
	size_t n = hu_constants_only(m, &list);

	if (n)
		printf("%zu node%s for values of the model's inputs to know what to do, so that each input runs by "
		       "itself:\n",
			n, n == 1 ? " asks" : "s ask");
	for (size_t i = 0; i < n; i++)
		printf("  %s %s\n", hu_shown(list[i]->op), *list[i]->name ? hu_shown(list[i]->name) : "(no name)");
	free(list);
}

/* An operator as it is printed and written. */
typedef struct row {
	char *op, *domain; /* the row's own */
	const char *arithmetic;
	long long version, nodes;
	int known;
} row;

#define FIELD(name, kind, member, means, ...) HU_FIELD_OF(row, name, kind, member, ANYWHERE, means, __VA_ARGS__)
static const hu_table_field field[] = {
	FIELD("operator", TEXT, op, "the operator"),
	FIELD("domain", TEXT, domain, "its domain", .rank = 1),
	FIELD("version", COUNT, version, "the version of the domain that the file names", .rank = 2),
	FIELD("nodes", COUNT, nodes, "how many nodes have it"),
	FIELD("known", FLAG, known, "whether its arithmetic is known"),
	FIELD("arithmetic", TEXT, arithmetic, "the operators that compute it"),
};
static const hu_fields table = HU_FIELDS(field, row);

/* Returns the l->nop rows. */
static row *
rows_of(const hu_op_list *l)
{
	row *rows = hu_xcalloc(l->nop + 1, sizeof *rows);

	for (size_t i = 0; i < l->nop; i++) {
		const hu_listed *x = &l->node[l->op[i].first];
		long long version = hu_onnx_version(l->m, x->node->domain);
		rows[i] = (row){ .op = hu_xstrdup(hu_shown(x->node->op)),
			.domain = hu_xstrdup(domain_of(x->node)),
			.arithmetic = x->arithmetic,
			.version = version ? version : -1,
			.nodes = (long long)l->op[i].n,
			.known = x->arithmetic != NULL };
	}
	return rows;
}

static void
rows_free(row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(rows[i].op);
		free(rows[i].domain);
	}
	free(rows);
}

void
hu_op_list_print(const hu_op_list *l)
{
	size_t nodes, ops = unknown(l, &nodes);
	row *rows = rows_of(l);

	hu_fields_print(&table, rows, l->nop, "--json has all");
	rows_free(rows, l->nop);
	if (!ops) {
		printf("the arithmetic of all %zu nodes is known\n", l->nnode);
		print_need_constants(l->m);
		return;
	}
	printf("the arithmetic of %zu of %zu nodes is not known:\n", nodes, l->nnode);
	for (size_t i = 0; i < l->nop; i++)
		if (!l->node[l->op[i].first].arithmetic)
			print_unknown(l, &l->op[i]);
	print_need_constants(l->m);
}

static json_t *
need_constants(const hu_onnx *m)
{
	const hu_onnx_node **list;
	size_t n = hu_constants_only(m, &list);
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(all,
			json_pack("{s:s s:s}", "operator", hu_shown(list[i]->op), "node", hu_shown(list[i]->name)));
	free(list);
	return all;
}

json_t *
hu_op_list_json(const hu_op_list *l)
{
	json_t *o = json_object(), *rows = json_array();
	size_t nodes, ops = unknown(l, &nodes);
	row *listed = rows_of(l);

	json_object_set_new(o, "model", json_string(hu_shown(l->m->path)));
	json_object_set_new(o, "ir_version", json_integer(l->m->ir));
	json_object_set_new(o, "nodes", json_integer((json_int_t)l->nnode));
	json_object_set_new(o, "unknown_operators", json_integer((json_int_t)ops));
	json_object_set_new(o, "unknown_nodes", json_integer((json_int_t)nodes));
	for (size_t i = 0; i < l->nop; i++) {
		const hu_listed *x = &l->node[l->op[i].first];
		json_t *object = hu_fields_object(&table, &listed[i]), *names = json_array();
		for (size_t k = 0; k < l->op[i].n; k++) {
			char *name = name_of(&x[k]);
			json_array_append_new(names, json_string(name));
			free(name);
		}
		json_object_set_new(object, "names", names);
		json_array_append_new(rows, object);
	}
	rows_free(listed, l->nop);
	json_object_set_new(o, "operators", rows);
	json_object_set_new(o, "need_constants", need_constants(l->m));
	return o;
}

hu_status
hu_op_list_tell(const char *path, int json)
{
	hu_op_list l;
	hu_onnx m;

	HU_TRY(hu_onnx_open(&m, path));
	hu_op_list_init(&l, &m);
	if (json) {
		json_t *o = hu_op_list_json(&l);
		hu_json_write(o, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		puts("");
		json_decref(o);
	} else {
		hu_op_list_print(&l);
	}
	hu_op_list_release(&l);
	hu_onnx_release(&m);
	return HU_OK;
}
