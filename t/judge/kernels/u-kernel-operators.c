/* SPDX-License-Identifier: Apache-2.0
   Every operator of lib/op as a program of one call that is judged as a kernel (the cases of op-cases.def): either its
   first result has a ball, in which the exact value lies and what the emulation rounded, or it is refused by name. No
   operator that is a formula of elements is refused, and none that only moves elements. */
#include "lib/base/mem.h"
#include "lib/judge/kernel/program.h"
#include "lib/judge/kernel/verdict.h"
#include "lib/op/element/pointwise.h"
#include "lib/op/move/moves.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program that is the case's call. */
static hu_program *
program_of(op_case *k)
{
	hu_program *p = hu_program_new("eval");
	int in[16], out[8];
	char name[40];

	for (int j = 0; j < k->c.nin; j++) {
		snprintf(name, sizeof name, "in%d.x", j);
		in[j] = hu_program_tensor(p, name, k->in[j].format, k->in[j].shape, HU_ACTIVATION);
	}
	for (int j = 0; j < k->c.nout; j++) {
		snprintf(name, sizeof name, "out%d.y", j);
		out[j] = hu_program_tensor(p, name, k->out[j].format, k->out[j].shape, HU_ACTIVATION);
	}
	hu_call *c = hu_program_call(p, k->c.op->name, HU_FORWARD, "one", in, k->c.nin, out, k->c.nout);
	c->nattr = k->c.nattr;
	memcpy(c->attr, k->c.attr, sizeof c->attr);
	c->fmt.in = k->c.fmt.in;
	c->fmt.out = k->c.fmt.out;
	c->fmt.compute = c->fmt.acc = k->c.fmt.compute;
	return p;
}

/* How many elements of the ball's array hold neither the exact value nor the emulated one. */
static size_t
outside(op_case *k, const hu_balls *y, char *what, size_t room)
{
	size_t n = k->out[0].n, bad = 0, *all = hu_xmalloc((n + 1) * sizeof *all);
	mpfr_t *exact = hu_xmalloc((n + 1) * sizeof *exact);
	hu_format f = hu_format_of(k->out[0].format);

	for (size_t i = 0; i < n; i++) {
		all[i] = i;
		mpfr_init2(exact[i], 256);
	}
	hu_status st = HU_COLUMN(k->c.op, reference) ? HU_COLUMN(k->c.op, reference)(&k->c, k->pin, 0, all, n, exact)
						     : HU_EUNABLE;
	for (size_t i = 0; i < n; i++) {
		hu_ball b = y->b[i];
		double got = hu_get(&k->out[0], i), off = 0, own = hu_kernel_bound(b, f);
		if (st == HU_OK && mpfr_number_p(exact[i]) && hu_isfinite(b.x)) {
			mpfr_sub_d(exact[i], exact[i], b.x, MPFR_RNDN);
			off = fabs(mpfr_get_d(exact[i], MPFR_RNDA));
		}
		int lost = off > b.r && off > 0x1p-1000;
		int far = own < INFINITY && hu_isfinite(b.x) && !(fabs(got - b.x) <= own);
		if ((lost || far) && !bad++)
			snprintf(what, room, "element %zu: %.9g within %.3g; exactly %.3g off; emulated %.9g", i, b.x,
				b.r, off, got);
		mpfr_clear(exact[i]);
	}
	free(exact);
	free(all);
	return bad;
}

static void
one(const op_row *row, int level, int number)
{
	hu_env env = { 7, 1 };
	op_case k;
	hu_facts facts;

	if (op_case_init(&k, row, HU_FP32, HU_FP32, HU_FP32, level, 11) != HU_OK ||
		op_case_emulate(&k, &env) != HU_OK) {
		op_case_release(&k);
		return;
	}
	hu_program *p = program_of(&k);
	hu_balls *value = hu_xcalloc((size_t)p->nt + 1, sizeof *value);
	hu_facts_init(&facts);
	for (int j = 0; j < k.c.nin; j++) {
		size_t d[HU_RANK];
		for (int i = 0; i < k.in[j].shape.rank; i++)
			d[i] = k.in[j].shape.d[i];
		hu_balls_make(&value[p->c[0].in[j]], k.in[j].shape.rank, d, "an operand");
		for (size_t i = 0; i < k.in[j].n; i++)
			value[p->c[0].in[j]].b[i] = hu_ball_of(hu_get(&k.in[j], i));
	}
	hu_status st = hu_program_balls(p, &facts, HU_STORES_ADD, value, NULL, NULL);
	char what[240] = "";
	const hu_balls *y = &value[p->c[0].out[0]];
	if (st == HU_OK)
		ok(y->n == k.out[0].n && !outside(&k, y, what, sizeof what), "case %d: %s %s is judged", number,
			row->op, row->attrs);
	else
		ok(st == HU_EUNABLE && strstr(hu_reason(), row->op) && !hu_pointwise_is_formula(k.c.op) &&
				!(k.c.op->moves && !k.c.op->moves->forward),
			"case %d: %s %s is refused by name", number, row->op, row->attrs);
	if (st != HU_OK || *what)
		diag("%s", st == HU_OK ? what : hu_reason());
	for (int i = 0; i < p->nt; i++)
		hu_balls_release(&value[i]);
	free(value);
	hu_facts_release(&facts);
	hu_program_free(p);
	op_case_release(&k);
}

int
main(void)
{
	const op_row *row;

	for (int i = 0; (row = op_row_at(i)); i++)
		for (int level = LEVEL_MILD; level <= LEVEL_SPREAD; level++)
			one(row, level, i);
	mpfr_free_cache();
	return done_testing();
}
