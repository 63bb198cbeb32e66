/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/node.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The elements of A's and B's tensors by A's id: how many both have, and whether they are the same. */
typedef struct pairs {
	const hu_forward *a, *b;
	int *b_of;         /* by A's id: B's id of the same name; -1: none */
	char *in_a, *in_b; /* by id: 1 where the other engine has the same values */
	int batch;         /* inputs have other numbers of rows */
} pairs;

static void
pairs_init(pairs *p, const hu_forward *a, const hu_forward *b)
{
	*p = (pairs){ .a = a, .b = b };
	p->b_of = hu_xmalloc(((size_t)a->p->nt + 1) * sizeof(int));
	p->in_a = hu_xcalloc((size_t)a->p->nt + 1, 1);
	p->in_b = hu_xcalloc((size_t)b->p->nt + 1, 1);
	for (int i = 0; i < a->p->nt; i++) {
		int j = p->b_of[i] = hu_program_find(b->p, a->p->t[i].name);
		size_t n = j >= 0 ? hu_forward_common(&a->t[i], &b->t[j]) : 0;
		if (n && hu_forward_same(&a->t[i], &b->t[j], n))
			p->in_a[i] = p->in_b[j] = 1;
		p->batch |= n && a->p->t[i].producer < 0 && a->t[i].n != b->t[j].n;
	}
}

static void
pairs_release(pairs *p)
{
	free(p->b_of);
	free(p->in_a);
	free(p->in_b);
}

/* Looks at tensor `id` of A; returns 1 where it is the node. */
static int
look(hu_node *node, const pairs *p, int id, int counts)
{
	int to = p->b_of[id];
	size_t n = to >= 0 ? hu_forward_common(&p->a->t[id], &p->b->t[to]) : 0;

	if (!n) {
		node->unmatched += counts != 0;
		return 0;
	}
	node->compared += counts != 0;
	if (p->in_a[id])
		return 0;
	node->found = 1;
	node->a = id;
	node->b = to;
	node->n = n;
	node->call_a = p->a->p->t[id].producer;
	node->call_b = p->b->p->t[to].producer;
	return 1;
}

/* The first tensor apart: what a call reads and no call makes stands before what the call makes. */
static void
find(hu_node *node, const pairs *p)
{
	const hu_program *q = p->a->p;

	for (int i = 0; i < q->nc; i++) {
		const hu_call *c = &q->c[i];
		if (c->phase != HU_FORWARD || hu_program_is_loss(c))
			continue;
		for (int k = 0; k < c->nin; k++)
			if (q->t[c->in[k]].producer < 0 && look(node, p, c->in[k], 0))
				return;
		for (int k = 0; k < c->nout; k++)
			if (look(node, p, c->out[k], 1))
				return;
	}
}

/* Computes the node again and counts the elements that differ from `want`, whatever its format. */
static hu_status
again(hu_node_replay *r, const hu_cone *a, const hu_cone *b, unsigned from_b, const hu_tensor *want, size_t n)
{
	hu_tensor got;
	hu_status st = hu_cone_replay(&got, a, b, from_b);

	*r = (hu_node_replay){ .from_b = from_b };
	if (st == HU_ENOMEM)
		return st;
	if (st != HU_OK)
		return HU_OK;
	r->done = got.n >= n;
	if (r->done) {
		got.n = n;
		r->differ = hu_apart_of(&got, want).differ;
	}
	free(got.data);
	return HU_OK;
}

/* Whether an engine's own node has the bits that it recorded. */
static hu_status
own(hu_node *node, const hu_cone *c, const hu_cone *other, size_t n)
{
	hu_node_replay r;

	HU_TRY(again(&r, c, other, 0, &c->e->t[c->tensor], n));
	if (node->unknown == HU_NODE_KNOWN && (!r.done || r.differ))
		node->unknown = r.done ? HU_NODE_MOVED : HU_NODE_FAILED;
	return HU_OK;
}

/* The aspect that alone makes A's node B's; else all in which they differ, where these together do. */
static hu_status
find_cause(hu_node *node, const hu_cone *a, const hu_cone *b)
{
	const hu_tensor *want = &b->e->t[b->tensor];

	node->differ = hu_cone_differ(a, b);
	node->unknown = a->unknown || b->unknown ? HU_NODE_LIBRARY
			: a->absent || b->absent ? HU_NODE_ABSENT
						 : HU_NODE_KNOWN;
	if (node->unknown != HU_NODE_KNOWN)
		return HU_OK;
	HU_TRY(own(node, a, b, a->e->t[a->tensor].n));
	HU_TRY(own(node, b, a, want->n));
	if (node->unknown != HU_NODE_KNOWN)
		return HU_OK;
	for (int i = 0; i <= HU_CONE_ASPECTS; i++) {
		unsigned all = node->differ, from_b = i < HU_CONE_ASPECTS ? 1u << i & all : all;
		if (!from_b || (i == HU_CONE_ASPECTS && !(all & (all - 1))))
			continue;
		hu_node_replay *r = &node->replay[node->nreplay++];
		HU_TRY(again(r, a, b, i < HU_CONE_ASPECTS ? from_b : ~0u, want, node->n));
		r->from_b = from_b;
		if (!node->cause && r->done && !r->differ)
			node->cause = from_b;
	}
	return HU_OK;
}

hu_status
hu_node_find(hu_node *node, const hu_forward *a, const hu_forward *b)
{
	hu_status st = HU_OK;
	pairs p;

	*node = (hu_node){ .a = -1, .b = -1, .call_a = -1, .call_b = -1 };
	pairs_init(&p, a, b);
	find(node, &p);
	if (node->found) {
		const hu_tensor *x = &a->t[node->a], *y = &b->t[node->b];
		hu_tensor part = *x;
		hu_cone *from = &node->node[0], *to = &node->node[1];
		part.n = node->n;
		node->apart = hu_apart_of(&part, y);
		node->weight = node->call_a < 0 && a->p->t[node->a].state;
		node->input = node->call_a < 0 && !node->weight;
		node->batch = p.batch;
		hu_cone_init(from, a, node->a, p.in_a);
		hu_cone_init(to, b, node->b, p.in_b);
		st = find_cause(node, from, to);
	}
	pairs_release(&p);
	return st;
}

void
hu_node_release(hu_node *node)
{
	hu_cone_release(&node->node[0]);
	hu_cone_release(&node->node[1]);
}
