/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/list_ops.h"

#include "lib/base/console/show_json.h"
#include "lib/base/show.h"
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

void
hu_op_list_print(const hu_op_list *l)
{
	int op = 8, domain = 7;
	size_t nodes, ops = unknown(l, &nodes);

	for (size_t i = 0; i < l->nop; i++) {
		const hu_onnx_node *x = l->node[l->op[i].first].node;
		int a = (int)strlen(hu_shown(x->op)), b = (int)strlen(domain_of(x));
		op = a > op ? a : op;
		domain = b > domain ? b : domain;
	}
	printf("%-*s %-*s %7s %7s %-5s %s\n", op, "operator", domain, "domain", "version", "nodes", "known",
		"arithmetic");
	for (size_t i = 0; i < l->nop; i++) {
		const hu_listed *x = &l->node[l->op[i].first];
		long long version = hu_onnx_version(l->m, x->node->domain);
		char text[32] = "-";
		if (version)
			snprintf(text, sizeof text, "%lld", version);
		printf("%-*s %-*s %7s %7zu %-5s %s\n", op, hu_shown(x->node->op), domain, domain_of(x->node), text,
			l->op[i].n, x->arithmetic ? "yes" : "no", x->arithmetic ? x->arithmetic : "-");
	}
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

	json_object_set_new(o, "model", json_string(hu_shown(l->m->path)));
	json_object_set_new(o, "ir_version", json_integer(l->m->ir));
	json_object_set_new(o, "nodes", json_integer((json_int_t)l->nnode));
	json_object_set_new(o, "unknown_operators", json_integer((json_int_t)ops));
	json_object_set_new(o, "unknown_nodes", json_integer((json_int_t)nodes));
	for (size_t i = 0; i < l->nop; i++) {
		const hu_listed *x = &l->node[l->op[i].first];
		long long version = hu_onnx_version(l->m, x->node->domain);
		json_t *row = json_object(), *names = json_array();
		json_object_set_new(row, "operator", json_string(hu_shown(x->node->op)));
		json_object_set_new(row, "domain", json_string(domain_of(x->node)));
		json_object_set_new(row, "version", version ? json_integer(version) : json_null());
		json_object_set_new(row, "nodes", json_integer((json_int_t)l->op[i].n));
		json_object_set_new(row, "known", json_boolean(x->arithmetic != NULL));
		json_object_set_new(row, "arithmetic", x->arithmetic ? json_string(x->arithmetic) : json_null());
		for (size_t k = 0; k < l->op[i].n; k++) {
			char *name = name_of(&x[k]);
			json_array_append_new(names, json_string(name));
			free(name);
		}
		json_object_set_new(row, "names", names);
		json_array_append_new(rows, row);
	}
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
