/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/units/cut.h"

#include "lib/base/mem.h"
#include "lib/op/attr.h"

#include <stdlib.h>

/* Seconds for a unit, a call, an element, and an operation of its sum. Measured on traces of the models, a core of an
   x86-64 processor with AVX2. */
static const struct {
	double call, read, judged, enclosed, emulated, updated, exact;
} s = { 2e-5, 4e-9, 4e-7, 4e-10, 4e-9, 2e-7, 2e-9 };

void
hu_units_release(hu_units *c)
{
	free(c->u);
	free(c->cost);
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

static double
cost_of_call(const hu_analysis *a, const hu_call *c)
{
	double judged, all = outputs(a, c, &judged), terms = hu_call_cost(a->run->train, c).flops / (all > 0 ? all : 1);
	double cost = s.call + all * s.read;

	if (HU_COLUMN(c->op, reference))
		cost += judged * (s.judged + terms * s.enclosed);
	if (HU_COLUMN(c->op, swamping))
		cost += judged * terms * s.emulated;
	if (hu_is_update(a->run->train, c))
		cost += all * s.updated;
	return cost;
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

static void
add(hu_units *c, int *cap, hu_work_unit u, double cost)
{
	int n = c->n;

	if (n == *cap) {
		HU_GROW(c->u, n, *cap);
		c->cost = hu_xrealloc(c->cost, (size_t)*cap * sizeof *c->cost);
	}
	c->u[n] = u;
	c->cost[n] = cost;
	c->n++;
}

void
hu_units_cut(hu_units *c, const hu_analysis *a, const char *take)
{
	int cap = 0;

	(void)take;
	*c = (hu_units){ .n = 0 };
	for (int i = 0; i < a->nstep; i++) {
		add(c, &cap, (hu_work_unit){ .step = i, .call = -1, .tiles = 1 }, cost_of_step(a));
		for (int k = 0; k < a->run->train->nc; k++)
			add(c, &cap, (hu_work_unit){ .step = i, .call = k, .tiles = 1 },
				cost_of_call(a, &a->run->train->c[k]));
	}
}
