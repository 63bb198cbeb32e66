/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/node_out.h"

#include "lib/base/table/fields.h"
#include "lib/base/show.h"
#include "lib/op/reduce/summed.h"

#include <math.h>
#include <stdio.h>

static void
empty(hu_str *s)
{
	hu_str_release(s);
	hu_str_init(s);
}

/* What the set of aspects is called: "format", "format and order". */
static void
add_aspects(hu_str *s, unsigned set)
{
	int n = 0, all = 0;

	for (int i = 0; i < HU_CONE_ASPECTS; i++)
		all += set >> i & 1;
	for (int i = 0; i < HU_CONE_ASPECTS; i++)
		if (set >> i & 1) {
			n++;
			hu_str_addf(s, "%s%s", n == 1 ? "" : n == all ? " and " : ", ", hu_cone_aspect(i));
		}
}

/* Whether the engines divide the node's sums among other numbers of ranks, and that makes the difference. */
static int
is_split(const hu_node *n)
{
	return n->cause == HU_CONE_FUSION && hu_cone_ranks(&n->node[0]) != hu_cone_ranks(&n->node[1]);
}

static const char *
cause_word(const hu_node *n, hu_str *s)
{
	if (is_split(n))
		hu_str_add(s, "split");
	else if (n->cause)
		add_aspects(s, n->cause);
	else if (n->weight)
		hu_str_add(s, "weight");
	else if (n->input)
		hu_str_add(s, "input");
	else if (n->batch && n->unknown == HU_NODE_KNOWN)
		hu_str_add(s, "batch");
	else
		hu_str_add(s, "unknown");
	return s->s;
}

static void
add_cause(hu_str *s, const hu_node *n)
{
	if (is_split(n)) {
		int a = hu_cone_ranks(&n->node[0]), b = hu_cone_ranks(&n->node[1]);
		hu_str_addf(s, "split: the sums are dealt to ranks, of which A has %d and B %d", a ? a : 1, b ? b : 1);
	} else if (n->cause & (n->cause - 1)) {
		add_aspects(s, n->cause);
		hu_str_add(s, ": B's together make A's node B's, and no single one does");
	} else if (n->cause) {
		add_aspects(s, n->cause);
		hu_str_add(s, n->cause == n->differ ? ": the nodes differ in nothing else"
						    : ": B's alone makes A's node B's");
	} else if (n->weight) {
		hu_str_add(s, "the weights: the engines do not start from the same numbers");
	} else if (n->input) {
		hu_str_add(s, "the inputs: the engines did not compute the same tokens");
	} else if (n->unknown == HU_NODE_LIBRARY) {
		hu_str_add(s, "unknown: a library computed the node, or an operator that halfulp does not know");
	} else if (n->unknown == HU_NODE_ABSENT) {
		hu_str_add(s, "unknown: what the node reads was not recorded; train with --trace '*'");
	} else if (n->unknown == HU_NODE_MOVED) {
		hu_str_add(s, "unknown: the node, computed again, has other bits than an engine recorded");
	} else if (n->unknown == HU_NODE_FAILED) {
		hu_str_add(s, "unknown: the node cannot be computed again by itself");
	} else if (n->batch) {
		hu_str_add(s, "the size of the batch, whose rows the node mixes");
	} else {
		hu_str_add(s, "unknown: what differs between the nodes does not make one of them the other one");
	}
}

/* "cast, cast, matmul to bf16, its sums fma,acc=fp32": what an engine computes between what both have in common and the
   tensor. */
static void
add_node(hu_str *s, const hu_forward *e, int tensor, const hu_cone *c)
{
	char text[96];
	const hu_sum *sum = NULL;

	for (int i = 0; i < c->n; i++) {
		const hu_call *d = &e->p->c[c->call[i]];
		hu_str_addf(s, "%s%s", i ? ", " : "", d->op->name);
		if (hu_summed_or_product(d))
			sum = hu_summed_or_product(d);
	}
	hu_str_addf(
		s, "%s %s", c->n ? " to" : "a tensor that no call makes, in", hu_format_name(e->p->t[tensor].format));
	if (sum) {
		hu_sum_print(*sum, text, sizeof text);
		hu_str_addf(s, ", its sums %s", text);
	}
}

static void
print_replays(const hu_node *n)
{
	for (int i = 0; i < n->nreplay; i++) {
		const hu_node_replay *r = &n->replay[i];
		hu_str s;
		hu_str_init(&s);
		add_aspects(&s, r->from_b);
		if (!r->done)
			printf("                 A's node with B's %s cannot be computed\n", s.s);
		else
			printf("                 A's node with B's %s: %zu of %zu elements still differ\n", s.s,
				r->differ, n->n);
		hu_str_release(&s);
	}
}

void
hu_node_print(const hu_node *n, const hu_forward *a, const hu_forward *b)
{
	hu_str s;

	if (!n->found && !n->compared) {
		printf("  nodes          none has the same name and shape in both runs\n");
		return;
	}
	if (!n->found) {
		printf("  nodes          all %zu that both engines have recorded of the forward pass have the same "
		       "bits\n",
			n->compared);
		return;
	}
	hu_str_init(&s);
	hu_apart_text(&s, &n->apart);
	printf("\nThe first node apart is %s", hu_shown(a->p->t[n->a].name));
	if (n->call_a >= 0 && n->call_b >= 0)
		printf(", call %d of A and %d of B, which read the same bits", n->call_a, n->call_b);
	printf(".\n\n  apart          %s\n", s.s);
	for (int i = 0; i < 2; i++) {
		empty(&s);
		add_node(&s, i ? b : a, i ? n->b : n->a, &n->node[i]);
		printf("  %c computes     %s\n", 'A' + i, s.s);
	}
	empty(&s);
	add_cause(&s, n);
	printf("  cause          %s\n", s.s);
	print_replays(n);
	hu_str_release(&s);
}

/* Which operators an engine's node has, the format of its result and its sums. */
static json_t *
node_json(const hu_forward *e, int tensor, int call, const hu_cone *c)
{
	json_t *ops = json_array();
	const hu_sum *sum = NULL;
	char text[96];

	for (int i = 0; i < c->n; i++) {
		const hu_call *d = &e->p->c[c->call[i]];
		json_array_append_new(ops, json_string(d->op->name));
		if (hu_summed_or_product(d))
			sum = hu_summed_or_product(d);
	}
	if (sum)
		hu_sum_print(*sum, text, sizeof text);
	return json_pack("{s:o s:o s:s s:o}", "call", call >= 0 ? json_integer(call) : json_null(), "operators", ops,
		"format", hu_format_name(e->p->t[tensor].format), "sum", sum ? json_string(text) : json_null());
}

static json_t *
found_json(const hu_node *n, const hu_forward *a, const hu_forward *b)
{
	json_t *list = json_array(), *o;
	hu_str cause, words, set;

	hu_str_init(&cause);
	hu_str_init(&words);
	hu_str_init(&set);
	for (int i = 0; i < n->nreplay; i++) {
		const hu_node_replay *r = &n->replay[i];
		empty(&set);
		add_aspects(&set, r->from_b);
		json_array_append_new(list, json_pack("{s:s s:o}", "changed", set.s, "differ",
						    r->done ? json_integer((json_int_t)r->differ) : json_null()));
	}
	cause_word(n, &cause);
	add_cause(&words, n);
	o = json_pack("{s:s s:s s:I s:I s:I s:o s:s s:o s:o s:s s:s s:o s:o s:o}", "tensor",
		hu_shown(a->p->t[n->a].name), "layer", hu_shown(a->p->t[n->a].layer), "elements", (json_int_t)n->n,
		"differ", (json_int_t)n->apart.differ, "worst", (json_int_t)n->apart.worst, "ulps",
		hu_fields_number(n->apart.ulps), "ulps_of", hu_format_name(n->apart.format), "worst_a",
		hu_fields_number(n->apart.a), "worst_b", hu_fields_number(n->apart.b), "cause", cause.s, "because",
		words.s, "a", node_json(a, n->a, n->call_a, &n->node[0]), "b",
		node_json(b, n->b, n->call_b, &n->node[1]), "replays", list);
	hu_str_release(&cause);
	hu_str_release(&words);
	hu_str_release(&set);
	return o;
}

void
hu_node_add_json(json_t *o, const hu_node *n, const hu_forward *a, const hu_forward *b)
{
	json_object_set_new(o, "step", n ? json_integer((json_int_t)a->step) : json_null());
	json_object_set_new(o, "tensors_compared", n ? json_integer((json_int_t)n->compared) : json_null());
	json_object_set_new(o, "tensors_unmatched", n ? json_integer((json_int_t)n->unmatched) : json_null());
	json_object_set_new(o, "first_apart", n && n->found ? found_json(n, a, b) : json_null());
}
