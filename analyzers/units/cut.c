/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/units/cut.h"

#include "lib/base/mem.h"
#include "lib/op/contract/contract.h"

#include <stdlib.h>
#include <string.h>

/* Seconds for a unit, a call, an element, and an operation of its sum. Measured on traces of the models, a core of an
   x86-64 processor with AVX2. */
static const struct {
	double call, read, judged, enclosed, emulated, updated, exact;
} s = { 2e-5, 4e-9, 4e-7, 4e-10, 4e-9, 2e-7, 2e-9 };

/* Multiply-adds of a tile: ten milliseconds or so. */
static const double macs_of_tile = 8e6;

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

/* The number of elements of all outputs, and of those that are judged. */
static double
outputs(const hu_analysis *a, const hu_call *c, double *judged)
{
	double all = 0;

	*judged = 0;
	for (int k = 0; k < c->nout; k++) {
		double n = (double)hu_count(a->run->train->t[c->out[k]].shape), some = (double)a->opt.sample;
		all += n;
		*judged += some > 0 && some < n ? some : n;
	}
	return all;
}

/* Whether the analyzer of this name runs. */
static int
takes(const char *take, const char *name)
{
	for (int i = 0; hu_analyzer_at(i); i++)
		if (take[i] && !strcmp(hu_analyzer_at(i)->name, name))
			return 1;
	return 0;
}

/* The cost of judging a call's outputs, which tiles share, and of what else is found of it, which its first tile
   has. */
static double
cost_of_call(const hu_analysis *a, const hu_call *c, const char *take, double *rest)
{
	double judged, all = outputs(a, c, &judged), terms = hu_call_cost(a->run->train, c).flops / (all > 0 ? all : 1);

	double each = 0;

	*rest = takes(take, "underflow") ? all * s.read : 0;
	if (takes(take, "replay") && HU_COLUMN(c->op, reference))
		each += s.judged + terms * s.enclosed;
	if (hu_is_update(a->run->train, c)) {
		*rest += takes(take, "swamping") ? all * s.updated : 0;
		*rest += takes(take, "state") ? all * s.updated : 0;
	} else if (takes(take, "swamping") && HU_COLUMN(c->op, swamping))
		each += terms * s.emulated;
	return judged * each;
}

static double
cost_of_step(const hu_analysis *a)
{
	const hu_program *p = a->run->train;
	double cost = s.call;

	for (int i = 0; i < p->nc && a->opt.propagate; i++) {
		double judged, all = outputs(a, &p->c[i], &judged);
		cost += s.call + (hu_call_cost(p, &p->c[i]).flops + all * 8) * s.exact;
	}
	return cost;
}

/* Returns how many tiles a call is cut into: products of which every element is judged, and no element has a row. */
static int
tiles(const hu_analysis *a, const hu_call *c, size_t *step)
{
	hu_shape *in = hu_xcalloc((size_t)c->nin + (size_t)c->nout + 1, sizeof *in);
	int n = 1;

	*step = 0;
	hu_call_shapes(a->run->train, c, in, in + c->nin);
	if (!a->opt.sample && !a->opt.elements && HU_COLUMN(c->op, reference))
		n = hu_contract_cut(c, in, macs_of_tile, step);
	free(in);
	return n;
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

void
hu_units_cut(hu_units *c, const hu_analysis *a, const char *take)
{
	int cap = 0;

	*c = (hu_units){ .n = 0 };
	for (int i = 0; i < a->nstep; i++) {
		add(c, &cap, (hu_work_unit){ .step = i, .call = -1, .tiles = 1 }, cost_of_step(a));
		for (int k = 0; k < a->run->train->nc; k++) {
			const hu_call *call = &a->run->train->c[k];
			size_t step, n = hu_count(a->run->train->t[call->out[0]].shape);
			hu_work_unit u = { .step = i, .call = k, .tiles = tiles(a, call, &step), .last = n };
			double rest, judged = cost_of_call(a, call, take, &rest);
			for (; u.tile < u.tiles; u.tile++) {
				if (u.tiles > 1) {
					u.first = (size_t)u.tile * step;
					u.last = n - u.first < step ? n : u.first + step;
				}
				add(c, &cap, u, s.call + judged * (double)(u.last - u.first) / (double)(n ? n : 1) +
							(u.tile ? 0 : rest));
			}
		}
	}
}
