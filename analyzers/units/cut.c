/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/units/cut.h"

#include "lib/base/mem.h"
#include "lib/op/contract/contract.h"
#include "lib/op/reduce/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds, measured on traces of four models on a core of an x86-64 processor with AVX-512, a family of operators at a
   time. */
static const struct {
	double call;                 /* a call */
	double read;                 /* an element of its operands or results that is read, */
	double flushed;              /* or looked at for underflow */
	double judged, whole;        /* an element judged by itself, or in blocks as whole outputs are */
	double wide;                 /* or in blocks as a product of numbers of more than 12 bits */
	double elementary, functions;   /* or by an elementary function, alone or in blocks */
	double masked;               /* or, of a softmax, where exponentials of masked elements need MPFR */
	double precise;              /* an element of a loss, of which one sum in two is checked by MPFR */
	double packed;               /* an element of a product's operands that a tile reads */
	double product, of_whole;    /* an operation of a product that is judged by itself, or in blocks */
	double moved;                /* an element that is moved from somewhere else */
	double term;                 /* an operation of anything else that is judged */
	double emulated, added;      /* an operation of a product or of another sum that is emulated for its swamping */
	double updated;              /* an operation of an update whose effects are counted */
	double exact;                /* an operation of an exact step */
} s = { 1e-5, 2.5e-9, 6e-9, 1.2e-7, 4.1e-8, 5.5e-8, 1.2e-6, 6e-7, 1.5e-6, 3e-6, 2.2e-9, 1e-9, 3e-11, 9e-8, 8e-9, 5e-9,
	1.2e-8, 1.8e-8, 6e-10 };

/* A tile takes about ten milliseconds: long beside what a unit costs besides its work, and short beside what any of a
   thousand processes has to do of a work that is worth sharing with them. A tile of a product reads rows of one operand
   and columns of the other besides. */
static const double seconds_of_tile = 0.01;

void
hu_units_release(hu_units *c)
{
	free(c->u);
	free(c->cost);
	free(c->step);
	free(c->joint);
}

char *
hu_unit_name(const hu_analysis *a, const hu_work_unit *u)
{
	return u->call < 0 ? hu_xprintf("%zu.all", a->step[u->step])
			   : hu_xprintf("%zu.%d.%d", a->step[u->step], u->call, u->tile);
}

/* The numbers of elements of all inputs, of all outputs, and of those outputs' that are judged. */
typedef struct sizes { double in, out, judged; } sizes;

static sizes
sizes_of(const hu_analysis *a, const hu_call *c)
{
	const hu_info *t = a->run->train->t;
	sizes z = { 0, 0, 0 };

	for (int k = 0; k < c->nin; k++)
		z.in += (double)hu_count(t[c->in[k]].shape);
	for (int k = 0; k < c->nout; k++) {
		double n = (double)hu_count(t[c->out[k]].shape), some = (double)a->opt.sample;
		z.out += n;
		z.judged += some > 0 && some < n ? some : n;
	}
	return z;
}

int
hu_units_takes(const char *take, const char *name)
{
	for (int i = 0; hu_analyzer_at(i); i++)
		if (take[i] && !strcmp(hu_analyzer_at(i)->name, name))
			return 1;
	return 0;
}

/* Whether a formula has an elementary function: those that PyTorch and Apex keep in float32 have, some sums aside, and
   so may the gradients of such formulas; a softmax has one where its largest element is subtracted, and a loss has. */
static int
is_elementary(const hu_op *op)
{
	if (op->cls == HU_CLASS_LOSS && op->grad)
		return 1;
	for (const hu_stat_rule *r = op->stats ? op->stats->rule : NULL; r && r->kind != HU_STAT_END; r++)
		if (r->kind == HU_STAT_SHIFT)
			return 1;
	if (op->cls != HU_CLASS_POINTWISE || !op->pointwise)
		return 0;
	for (int i = 0; hu_op_at(i) && !op->float32; i++)
		for (const hu_grad *g = hu_op_at(i)->grad; hu_op_at(i)->float32 && g && g->op; g++)
			if (!strcmp(g->op, op->name))
				return 1;
	return op->float32 != 0;
}

/* Whether a softmax, or what is like it, has elements that were masked with a number whose exponential is below all
   doubles, so that only MPFR tells what they are, and has to sum their row for it. */
static int
is_masked(const hu_program *p, const hu_call *c)
{
	int by = p->t[c->in[0]].producer;

	return by >= 0 && is_elementary(c->op) && c->op->stats && hu_op_takes(p->c[by].op, "fill") &&
	       hu_attr_num(&p->c[by], "fill", 0) < -745;
}

/* What the one number costs that a loss makes of all its logits, which no tiles share. */
static double
cost_of_loss(const hu_analysis *a, const hu_call *c, const char *take)
{
	const hu_program *p = a->run->train;

	if (c->op->cls != HU_CLASS_LOSS || hu_count(p->t[c->out[0]].shape) != 1 || !hu_units_takes(take, "replay"))
		return 0;
	return (double)hu_count(p->t[c->in[0]].shape) * (s.functions + s.precise);
}

/* What replay costs of a call: the cost of each judged element is returned, that of all together added to *rest. An
   element of a normalisation needs the statistics of a whole channel, and one of a softmax those of a row. A sum of
   many elements, as of a bias's gradient, goes through memory in strides. */
static double
cost_of_replay(const hu_analysis *a, const hu_call *c, const sizes *z, double flops, double *rest)
{
	double terms = flops / (z->out > 0 ? z->out : 1);
	int whole = !a->opt.sample;

	*rest += (z->in + z->out) * s.read;
	if (!HU_COLUMN(c->op, enclose) || is_elementary(c->op)) {
		double masked = is_masked(a->run->train, c) ? s.masked : 0;
		return (whole ? s.functions : s.elementary) + masked;
	}
	if (c->op->moves && whole)
		return s.moved + terms * s.term;
	if (c->op->cls == HU_CLASS_NORM) {
		*rest += flops * 1.5 * s.term;
		terms = 0;
	}
	int product = c->op->cls == HU_CLASS_GEMM;
	int wide = product && hu_format_of(a->run->train->t[c->in[0]].format).p > 12;
	double of_term = !product ? s.term * (z->in > 4 * z->out ? 1.7 : 1) : whole ? s.of_whole : s.product;
	return (!whole ? s.judged : wide ? s.wide : s.whole) + terms * of_term;
}

/* Whether all n tensors are in the trace. */
static int
are_there(const hu_trace *t, const int *id, int n)
{
	for (int k = 0; k < n; k++)
		if (!t->t[id[k]].data)
			return 0;
	return 1;
}

/* Whether the analyzer of underflow looks at verdicts on each of the call's outputs. They cost as much as replay's even
   where they are these, so that a call is cut into the same tiles whether replay runs or not. */
static int
is_narrowed(const hu_analysis *a, const hu_call *c, const char *take)
{
	return !a->opt.sample && hu_units_takes(take, "underflow") && HU_COLUMN(c->op, reference) &&
	       hu_analysis_narrows(a->run->train, c, 0);
}

/* What one element of a product costs that accumulate-what-if judges: it is emulated, and judged, under the call's own
   model and each other; 0 where that analyzer does not run. */
static double
cost_of_what_if(const hu_analysis *a, const hu_call *c, const sizes *z, double flops, const char *take)
{
	enum { USUAL = 10 };   /* models without --accumulate */
	double each = flops / (z->out > 0 ? z->out : 1) * s.emulated, models = 1, rest = 0;

	if (!hu_units_takes(take, "accumulate-what-if") || !HU_COLUMN(c->op, emulate_some) ||
		!HU_COLUMN(c->op, reference))
		return 0;
	for (const char *const *m = a->opt.accumulate; m && *m; m++)
		models++;
	models += a->opt.accumulate ? 0 : USUAL;
	return models * (each + cost_of_replay(a, c, z, flops, &rest));
}

/* The cost of a call's outputs and of all else that is found of it, which tiles share. */
static double
cost_of_call(const hu_analysis *a, const hu_trace *t, const hu_call *c, const char *take)
{
	sizes z = sizes_of(a, c);
	double each = 0, all = 0, flops = hu_call_cost(a->run->train, c).flops;

	if (!are_there(t, c->in, c->nin))
		return 0;
	int sums = hu_units_takes(take, "swamping") && HU_COLUMN(c->op, swamping) && !hu_is_update(a->run->train, c);
	if (sums)
		each += flops / (z.out > 0 ? z.out : 1) *
			(c->op->cls == HU_CLASS_GEMM ? s.emulated : s.added);
	each += cost_of_what_if(a, c, &z, flops, take);
	if (!are_there(t, c->out, c->nout)) /* for sums that are done again operands suffice */
		return z.judged * each;
	if (hu_units_takes(take, "replay") && HU_COLUMN(c->op, reference))
		each += cost_of_replay(a, c, &z, flops, &all);
	if (is_narrowed(a, c, take)) {
		double rest = 0;
		each += cost_of_replay(a, c, &z, flops, &rest) + 4 * s.flushed;
		all += rest;
	}
	all += hu_units_takes(take, "underflow") ? z.out * s.flushed : 0;
	if (hu_is_update(a->run->train, c) && HU_COLUMN(c->op, reference))
		all += flops * s.updated * (hu_units_takes(take, "swamping") + 2 * hu_units_takes(take, "state"));
	return z.judged * each + all;
}

static double
cost_of_step(const hu_analysis *a)
{
	const hu_program *p = a->run->train;
	double cost = s.call;

	for (int i = 0; i < p->nc && a->opt.propagate; i++) {
		double flops = hu_call_cost(p, &p->c[i]).flops;
		cost += s.call + (flops + sizes_of(a, &p->c[i]).out * 8) * s.exact;
	}
	return cost;
}

/* The tiles of a call, whose largest output has n elements: step elements each, or, where row is not 0, step columns of
   its rows of so many; or those of a product. */
typedef struct cutting { int count; size_t n, step, row; hu_contract_tiles product; } cutting;

/* Cuts n elements, or columns, that cost so much together. */
static void
cut_evenly(cutting *x, size_t n, size_t grain, double cost)
{
	double grains = floor(seconds_of_tile / cost * (double)n / (double)grain);

	x->step = (grains > 1 ? (size_t)grains : 1) * grain;
	x->count = (n + x->step - 1) / x->step < 1000000 ? (int)((n + x->step - 1) / x->step) : 1;
}

/* Cuts a call whose outputs cost so much together. Only calls of which every element is judged, and no element has a
   row, are cut. */
static cutting
tiles(const hu_analysis *a, const hu_call *c, double cost)
{
	hu_shape *in = hu_xcalloc((size_t)c->nin + (size_t)c->nout + 1, sizeof *in);
	int largest = hu_analysis_largest(a, (int)(c - a->run->train->c));
	cutting x = { .count = 1, .n = hu_count(a->run->train->t[c->out[largest]].shape) };

	hu_call_shapes(a->run->train, c, in, in + c->nin);
	if (!a->opt.sample && !a->opt.elements && HU_COLUMN(c->op, reference) && cost > seconds_of_tile && x.n) {
		size_t grain = hu_op_grain(c, in, &x.row);
		double of_mac = cost / (hu_call_cost(a->run->train, c).macs + 1);
		if (grain)
			cut_evenly(&x, x.row ? x.row : x.n, grain, cost);
		else
			x.count = hu_contract_tile(&x.product, c, in, seconds_of_tile / of_mac, s.packed / of_mac);
	}
	free(in);
	return x;
}

/* The elements of that output that tile i has. */
static hu_region
region(const cutting *x, int i)
{
	size_t of = x->row ? x->row : x->n, first = (size_t)i * x->step,
	       last = of - first < x->step ? of : first + x->step;

	if (x->count == 1)
		return (hu_region){ 0, x->n, 0, 0, 0 };
	if (x->product.step)
		return hu_contract_region(&x->product, i);
	return x->row ? (hu_region){ 0, x->n, x->row, first, last } : (hu_region){ first, last, 0, 0, 0 };
}

/* What a tile costs besides its share of the call: of a product the packing of the rows and columns that it reads. */
static double
reading(const cutting *x, hu_region some)
{
	if (x->count == 1 || !x->product.step)
		return 0;
	size_t rows = (some.last - some.first) / x->product.row,
	       columns = some.row ? some.right - some.left : x->product.row;
	return s.packed * (double)x->product.k * (double)(rows + columns);
}

static void
add(hu_units *c, int *cap, hu_work_unit u, double cost)
{
	int n = c->n;

	if (n == *cap) {
		HU_GROW(c->u, n, *cap);
		c->cost = hu_xrealloc(c->cost, (size_t)*cap * sizeof *c->cost);
		c->step = hu_xrealloc(c->step, (size_t)*cap * sizeof *c->step);
		c->joint = hu_xrealloc(c->joint, (size_t)*cap);
	}
	c->u[n] = u;
	c->cost[n] = cost;
	c->step[n] = u.step;
	c->joint[n] = u.call < 0;
	c->n++;
}

hu_status
hu_units_cut(hu_units *c, hu_analysis *a, const char *take)
{
	int cap = 0;
	hu_trace *t;

	*c = (hu_units){ .n = 0 };
	for (int i = 0; i < a->nstep; i++) {
		HU_TRY(hu_analysis_trace(a, i, &t));
		add(c, &cap, (hu_work_unit){ .step = i, .call = -1, .tiles = 1 }, cost_of_step(a));
		for (int k = 0; k < a->run->train->nc; k++) {
			const hu_call *call = &a->run->train->c[k];
			double cost = cost_of_call(a, t, call, take), one = cost > 0 ? cost_of_loss(a, call, take) : 0;
			cutting x = tiles(a, call, cost);
			hu_work_unit u = { .step = i, .call = k, .tiles = x.count };
			for (; u.tile < u.tiles; u.tile++) {
				u.some = region(&x, u.tile);
				double share = (double)hu_region_count(u.some) / (double)(x.n ? x.n : 1),
				       alone = u.tile == u.tiles - 1 ? one : 0;
				add(c, &cap, u, s.call + reading(&x, u.some) + cost * share + alone);
			}
		}
	}
	return HU_OK;
}
