/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/cone.h"

#include "lib/base/mem.h"
#include "lib/op/attr.h"
#include "lib/op/reduce/summed.h"

#include <stdlib.h>
#include <string.h>

/* Attributes that say in which order a call adds. */
static const char *const ordering[] = { "part", "summed", "block", NULL };

const char *
hu_cone_aspect(int i)
{
	static const char *const name[] = { "format", "order", "fusion", "setting" };

	return i >= 0 && i < HU_CONE_ASPECTS ? name[i] : NULL;
}

int
hu_cone_is_cast(const hu_op *op)
{
	static const char *const name[] = { "block_cast", "map_cast", "hadamard", "fake_quantise", NULL };

	for (int i = 0; name[i]; i++)
		if (!strcmp(op->name, name[i]))
			return 1;
	return op->role == HU_ROLE_CAST;
}

/* Marks the calls behind the tensor, and what they read. */
static void
walk(hu_cone *c, int tensor, const char *common, char *inside)
{
	const hu_program *p = c->e->p;
	int call = p->t[tensor].producer;

	if (call < 0 || (common[tensor] && tensor != c->tensor)) {
		c->reads[tensor] = 1;
		c->absent |= !c->e->t[tensor].data;
		return;
	}
	if (inside[call])
		return;
	inside[call] = 1;
	c->unknown |= p->c[call].op->role == HU_ROLE_OPAQUE || hu_attr_library(&p->c[call]) > 0;
	for (int i = 0; i < p->c[call].nin; i++)
		walk(c, p->c[call].in[i], common, inside);
}

void
hu_cone_init(hu_cone *c, const hu_forward *e, int tensor, const char *common)
{
	const hu_program *p = e->p;
	char *inside = hu_xcalloc((size_t)p->nc + 1, 1);

	*c = (hu_cone){ .e = e, .tensor = tensor };
	c->reads = hu_xcalloc((size_t)p->nt + 1, 1);
	c->call = hu_xmalloc(((size_t)p->nc + 1) * sizeof *c->call);
	c->main = hu_xmalloc(((size_t)p->nc + 1) * sizeof *c->main);
	walk(c, tensor, common, inside);
	for (int i = 0; i < p->nc; i++)
		if (inside[i]) {
			c->call[c->n++] = i;
			if (!hu_cone_is_cast(p->c[i].op))
				c->main[c->nmain++] = i;
		}
	free(inside);
}

void
hu_cone_release(hu_cone *c)
{
	free(c->reads);
	free(c->call);
	free(c->main);
	memset(c, 0, sizeof *c);
}

static const hu_call *
call_of(const hu_cone *c, int i)
{
	return &c->e->p->c[c->main[i]];
}

static int
is_ordering(const char *key)
{
	for (int i = 0; ordering[i]; i++)
		if (!strcmp(ordering[i], key))
			return 1;
	return 0;
}

static int
sums_in_other_order(const hu_call *a, const hu_call *b)
{
	const hu_sum *x = hu_summed_or_product(a), *y = hu_summed_or_product(b);

	for (int i = 0; ordering[i]; i++)
		if (hu_attr_num(a, ordering[i], 0) != hu_attr_num(b, ordering[i], 0))
			return 1;
	if (!x || !y)
		return x != y;
	return x->id != y->id || x->n != y->n || x->node != y->node || x->arch != y->arch || x->path != y->path;
}

/* A unit's accumulator belongs to it, so that its format is no aspect of its own. A reduction without a model adds in
   its compute format. */
static int
sums_in_other_format(const hu_call *a, const hu_call *b)
{
	const hu_sum *x = hu_summed_or_product(a), *y = hu_summed_or_product(b);

	if ((!x && !y) || (x && hu_sum_is_unit(x->id)) || (y && hu_sum_is_unit(y->id)))
		return 0;
	if (!x || !y) {
		const hu_sum *named = x ? x : y;
		return named->acc != (x ? b : a)->fmt.compute || named->mode != HU_RNE;
	}
	return x->acc != y->acc || x->outer != y->outer || x->mode != y->mode || x->bits != y->bits;
}

static int
other_formats(const hu_call *a, const hu_call *b)
{
	return a->fmt.in != b->fmt.in || a->fmt.compute != b->fmt.compute || a->fmt.out != b->fmt.out ||
	       a->mode != b->mode || a->flags != b->flags || sums_in_other_format(a, b);
}

static int
lacks(const hu_call *a, const hu_call *b)
{
	for (int i = 0; i < a->nattr; i++) {
		const hu_attr *x = &a->attr[i];
		if (is_ordering(x->key))
			continue;
		if (*x->text ? strcmp(x->text, hu_attr_text(b, x->key, "")) != 0 : hu_attr_num(b, x->key, 0) != x->num)
			return 1;
	}
	return 0;
}

/* Whether the casts differ: their number, or the formats that the nodes' operands have. */
static int
other_casts(const hu_cone *a, const hu_cone *b)
{
	int n = a->n - a->nmain, m = b->n - b->nmain;

	if (n != m)
		return 1;
	for (int i = 0, j = 0; n; n--, i++, j++) {
		while (!hu_cone_is_cast(a->e->p->c[a->call[i]].op))
			i++;
		while (!hu_cone_is_cast(b->e->p->c[b->call[j]].op))
			j++;
		const hu_call *x = &a->e->p->c[a->call[i]], *y = &b->e->p->c[b->call[j]];
		if (x->op != y->op || other_formats(x, y) || lacks(x, y) || lacks(y, x))
			return 1;
	}
	return 0;
}

/* The first call of the node that adds; NULL where none does. */
static const hu_call *
adds(const hu_cone *c)
{
	for (int i = 0; i < c->nmain; i++)
		if (hu_summed_or_product(call_of(c, i)))
			return call_of(c, i);
	return NULL;
}

static int
other_operators(const hu_cone *a, const hu_cone *b)
{
	int other = a->nmain != b->nmain;

	for (int i = 0; !other && i < a->nmain; i++)
		other = call_of(a, i)->op != call_of(b, i)->op;
	return other;
}

int
hu_cone_ranks(const hu_cone *c)
{
	int ranks = 0, reduced = 0;

	for (int i = 0; i < c->nmain; i++) {
		const hu_op *op = call_of(c, i)->op;
		ranks += op->role == HU_ROLE_PRODUCT;
		reduced += op->role == HU_ROLE_ALL_REDUCE;
		if (op->role != HU_ROLE_PRODUCT && op->role != HU_ROLE_ALL_REDUCE && strcmp(op->name, "move"))
			return 0;
	}
	return reduced == 1 && ranks > 1 ? ranks : 0;
}

unsigned
hu_cone_differ(const hu_cone *a, const hu_cone *b)
{
	unsigned d = other_casts(a, b) ? HU_CONE_FORMAT : 0;

	if (!a->nmain && !b->nmain)
		return a->e->t[a->tensor].format != b->e->t[b->tensor].format ? HU_CONE_FORMAT : d;
	if (other_operators(a, b)) {
		const hu_call *x = adds(a), *y = adds(b);
		if (x && y && sums_in_other_order(x, y))
			d |= HU_CONE_ORDER;
		if (a->e->p->t[a->tensor].format != b->e->p->t[b->tensor].format || !a->nmain || !b->nmain ||
			call_of(a, 0)->fmt.in != call_of(b, 0)->fmt.in || (x && y && sums_in_other_format(x, y)))
			d |= HU_CONE_FORMAT;
		return d | HU_CONE_FUSION;
	}
	for (int i = 0; i < a->nmain; i++) {
		const hu_call *x = call_of(a, i), *y = call_of(b, i);
		d |= other_formats(x, y) ? HU_CONE_FORMAT : 0;
		d |= sums_in_other_order(x, y) ? HU_CONE_ORDER : 0;
		d |= lacks(x, y) || lacks(y, x) ? HU_CONE_SETTING : 0;
	}
	return d;
}
