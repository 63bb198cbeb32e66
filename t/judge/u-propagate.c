/* SPDX-License-Identifier: Apache-2.0
   The exact step in double-double against the whole step by MPFR, call by call: every value lies within its
   bound of MPFR's, and every propagated error told within its own. A call that says something wrong is found out. */
#include <stdio.h> /* before mpfr.h */

#include "lib/judge/exact_step.h"
#include "lib/judge/propagate.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/op/element/map.h"
#include "t/judge/small_step.h"
#include "t/tool/aborts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
	size_t values, unknown, outside, wide;
	char what[200];
} tally;

/* Tensor ID in both precisions. */
static void
compare(tally *t, const hu_exact_step *two, const hu_exact_step *many, int id)
{
	const hu_tensor *a = &two->t[id], *b = &many->t[id];
	mpfr_t x, own;

	mpfr_inits2(2000, x, own, (mpfr_ptr)NULL);
	for (size_t i = 0; i < a->n; i++) {
		double h = hu_get(a, i), l = a->low ? a->low[i] : 0, e = two->low[id].err ? two->low[id].err[i] : 0;
		hu_exact_get(x, b, i);
		t->values++;
		if (!isfinite(h) || !(e < INFINITY) || !mpfr_number_p(x)) {
			t->unknown++;
			continue;
		}
		t->wide += e > 0x1p-36 * fabs(h);
		mpfr_abs(own, x, MPFR_RNDN); /* what MPFR's values are off by themselves: 2^-212 a call, amplified as
						the pairs' errors are */
		mpfr_mul_2si(own, own, -180, MPFR_RNDN);
		mpfr_add_d(own, own, e * (1 + 0x1p-60), MPFR_RNDN);
		mpfr_sub_d(x, x, h, MPFR_RNDN);
		mpfr_sub_d(x, x, l, MPFR_RNDN);
		if (mpfr_cmpabs(x, own) > 0 && !t->outside++)
			snprintf(t->what, sizeof t->what, "%.100s, element %zu: %a + %a within %a", two->q->t[id].name,
				i, h, l, e);
	}
	mpfr_clears(x, own, (mpfr_ptr)NULL);
}

static void
call_by_call(const step *s, const char *name)
{
	hu_program *q = hu_exact_step_program(s->p);
	const hu_engine *engine;
	hu_exact_step two, many;
	tally t = { 0 };

	hu_engine_find("auto", &engine);
	hu_exact_step_init(&two, q, s->t, engine, 1, HU_STEP_TWO);
	hu_exact_step_init(&many, q, s->t, engine, 1, HU_STEP_FOUR);
	hu_exact_step_begin(&two);
	hu_exact_step_begin(&many);
	int lows = (int)hu_exact_step_lows(&many), kept = lows == 3 && hu_exact_step_lows(&two) == 2;
	for (int i = 0; i < q->nc; i++) {
		if (hu_exact_step_call(&two, i) || hu_exact_step_call(&many, i))
			bail_out("%s: %s", name, hu_reason());
		for (int k = 0; k < q->c[i].nout; k++)
			compare(&t, &two, &many, q->c[i].out[k]);
		for (int k = 0; k < q->c[i].nout; k++)
			kept &= !many.t[q->c[i].out[k]].low || many.t[q->c[i].out[k]].lows == lows;
	}
	ok(kept, "%s: MPFR's values are kept in four doubles", name);
	if (!ok(!t.outside && t.values > 4000 && t.unknown * 100 < t.values && t.wide * 20 < t.values,
		    "%s: %zu values of the step lie within their bounds of MPFR's (%zu unknown, %zu known to less than "
		    "2^-36)",
		    name, t.values, t.unknown, t.wide))
		diag("%zu outside; %s", t.outside, t.what);
	ok(two.judged > 100, "%s: %zu of them were judged by MPFR from the same operands", name, two.judged);
	hu_exact_step_release(&two);
	hu_exact_step_release(&many);
	hu_program_free(q);
}

/* Tensors that share arrays: who drops them last frees them, and who owns doubles changes nobody else's. */
static void
sharing(const step *s)
{
	hu_program *q = hu_exact_step_program(s->p);
	int a = q->c[0].out[0], b = q->c[1].out[0], c = q->c[2].out[0];
	const hu_engine *engine;
	hu_exact_step x;
	double *low;

	hu_engine_find("auto", &engine);
	hu_exact_step_init(&x, q, s->t, engine, 1, HU_STEP_TWO);
	hu_exact_step_begin(&x);
	x.t[b].n = x.t[c].n = x.t[a].n;
	hu_exact_step_make(&x, a);
	hu_exact_step_make_low(&x, a, &low);
	double *first = x.t[a].data;
	first[0] = 3;
	low[0] = 1;
	hu_exact_step_share(&x, b, a);
	hu_exact_step_share(&x, c, b);
	ok(x.t[c].data == first && x.low[c].lo == low, "a tensor has the arrays that it shares");
	hu_exact_step_own(&x, b);
	double *mine = x.t[b].data;
	mine[0] = 5;
	ok(mine != first && first[0] == 3 && x.low[b].lo == low, "what one of them owns is no array of the others");
	hu_exact_step_drop(&x, a);
	hu_exact_step_drop(&x, b);
	ok(x.t[c].data == first && first[0] == 3 && x.low[c].lo[0] == 1, "the last one keeps the arrays");
	hu_exact_step_own(&x, c);
	hu_exact_step_round(&x, c);
	ok(x.t[c].data == first && !x.low[c].lo && !x.t[c].low, "and owns them without a copy");
	hu_exact_step_release(&x);
	hu_program_free(q);
}

static int
near(double a, double b, double off)
{
	return a == b || !(fabs(a - b) > off * (1 + 0x1p-30) + 0x1p-40 * fabs(b));
}

static void
propagate(const step *s, const char *engine_name, hu_errors_step *errors, hu_propagation *how)
{
	const hu_engine *engine;
	double **ideal;

	hu_engine_find(engine_name, &engine);
	if (hu_propagate(s->p, s->t, engine, 1, NULL, errors, &ideal, how))
		bail_out("%s", hu_reason());
	for (int i = 0; i < s->p->nt; i++)
		hu_room_free(ideal[i]);
	free(ideal);
}

static void
figures(const step *s, const char *name, int exactly, size_t twice)
{
	size_t n = (size_t)s->p->nt, wrong = 0, told = 0, wide = 0, same = 0, strange = 0;
	hu_errors_step *a = hu_xcalloc(n, sizeof *a), *b = hu_xcalloc(n, sizeof *b);
	hu_propagation one = { 0 }, two = { 0 };

	propagate(s, "auto", a, &one);
	propagate(s, "mpfr", b, &two);
	for (size_t i = 0; i < n; i++) {
		if (!a[i].known)
			continue;
		told++;
		wide += !a[i].settled;
		same += a[i].ulp_max == b[i].ulp_max && a[i].ulp_mean == b[i].ulp_mean &&
			a[i].rel_normwise == b[i].rel_normwise && a[i].off_max == b[i].off_max &&
			a[i].off_mean == b[i].off_mean && a[i].off_rel == b[i].off_rel;
		if (!(near(a[i].ulp_max, b[i].ulp_max, a[i].off_max) &&
			    near(a[i].ulp_mean, b[i].ulp_mean, a[i].off_mean) &&
			    near(a[i].rel_normwise, b[i].rel_normwise, a[i].off_rel)) &&
			!wrong++)
			diag("%s: %.17g %.17g %.17g, MPFR %.17g %.17g %.17g", s->p->t[i].name, a[i].ulp_max,
				a[i].ulp_mean, a[i].rel_normwise, b[i].ulp_max, b[i].ulp_mean, b[i].rel_normwise);
	}
	ok(!wrong && !wide && told > 30 && told == one.tensors && one.widest <= HU_STEP_SETTLED,
		"%s: the propagated errors of %zu tensors lie within their bounds (%.2g of them at most; %zu asked "
		"MPFR for)",
		name, told, one.widest, one.escalated);
	ok(two.by_mpfr == 1 && one.by_mpfr == (size_t)exactly, "%s: %s", name,
		exactly ? "errors of fp64 may need MPFR" : "double-double was enough");
	for (int i = 0; i < s->p->nt; i++)
		strange += s->p->t[i].producer < 0 && (a[i].known || b[i].known);
	ok(!strange, "%s: no error is told of a tensor that no call makes", name);
	/* Figures that are MPFR's to the last bit are those of its tensors, and of a few that both know exactly. */
	ok(one.escalated <= same && same - one.escalated <= told / 4 &&
			(exactly ? one.escalated > 0 : !one.escalated) && 2 * one.escalated < told &&
			one.twice == twice && !one.unreported && !two.escalated,
		"%s: MPFR's figures are taken of %zu tensors of %zu, and %s", name, one.escalated, told,
		twice ? "two precisions of it agree" : "one precision of it is enough");
	free(a);
	free(b);
}

/* A matmul that is off by one bit of a low part and does not know. */
static hu_sink *honest;
static void
lie(hu_sink *s, const hu_tile *t)
{
	(void)s;
	for (size_t i = 0; i < t->n; i++)
		t->lo[i] += fabs(t->hi[i]) * 0x1p-70;
	honest->take(honest, t);
}

static hu_status
lying(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *s)
{
	hu_sink mine = { .take = lie, .low = s->low };

	honest = s;
	return HU_COLUMN(&hu_op_matmul, enclose)(c, in, out, element, n, &mine);
}

/* Runs the exact step with a matmul whose enclosures lie. */
static void
lie_through(void *with)
{
	const step *s = with;
	hu_program *q = hu_exact_step_program(s->p);
	hu_op liar = hu_op_matmul;
	const hu_engine *engine;
	hu_exact_step x;
	hu_status st = HU_OK;

	liar.own.enclose = lying;
	hu_engine_find("auto", &engine);
	hu_exact_step_init(&x, q, s->t, engine, 1, HU_STEP_TWO);
	hu_exact_step_begin(&x);
	for (int i = 0; i < q->nc && st == HU_OK; i++) {
		if (!strcmp(q->c[i].op->name, "matmul"))
			q->c[i].op = &liar;
		st = hu_exact_step_call(&x, i);
	}
	/* no product is known, nor what depends on one; what needs none is */
	size_t known = 0, products = 0;
	for (int i = 0; i < q->nc && st == HU_OK; i++)
		for (int k = 0; k < q->c[i].nout; k++) {
			int is = x.known[q->c[i].out[k]];
			known += is != 0;
			products += q->c[i].op == &liar && !is;
		}
	int good = st == HU_OK && known && x.disagreed && products >= x.disagreed;
	hu_exact_step_release(&x);
	hu_program_free(q);
	if (!good)
		_exit(1);
}

/* An operator that has only a reference is refused, in one line. */
static void
without_enclosures(step *s)
{
	hu_program *q = hu_exact_step_program(s->p);
	hu_columns family = *hu_op_matmul.family;
	hu_op plain = hu_op_matmul;
	const hu_engine *engine;
	hu_exact_step x;
	hu_status st = HU_OK;

	plain.own.enclose = family.enclose = NULL;
	plain.family = &family;
	hu_engine_find("auto", &engine);
	hu_exact_step_init(&x, q, s->t, engine, 1, HU_STEP_TWO);
	hu_exact_step_begin(&x);
	for (int i = 0; i < q->nc && st == HU_OK; i++) {
		if (!strcmp(q->c[i].op->name, "matmul"))
			q->c[i].op = &plain;
		st = hu_exact_step_call(&x, i);
	}
	ok(st == HU_EUNABLE && strstr(hu_reason(), "matmul has no enclosures") && strstr(hu_reason(), "--no-propagate"),
		"an operator without enclosures is refused: %.60s...", hu_reason());
	hu_exact_step_release(&x);
	hu_program_free(q);
}

static void
found_out(step *s)
{
	ok(!aborts(lie_through, s) && ended == 0 && strstr(said, "not within") && strstr(said, "--no-propagate"),
		"an enclosure that is 2^-70 off is found out: %.60s...", said);
}

/* The gradient of a bias before batchnorm, which is 0: the exact step says so of every element, though the step
   recorded others. */
static void
vanishes(void)
{
	hu_propagation how = { 0 };
	const hu_engine *engine;
	double **ideal;
	step s;

	make(&s, biased.name, "float32", 1e-3);
	int db = hu_program_find(s.p, "conv1.db");
	char *keep = hu_xcalloc((size_t)s.p->nt, 1);
	size_t zeros = 0, recorded = 0;
	keep[db] = 1;
	hu_engine_find("auto", &engine);
	if (hu_propagate(s.p, s.t, engine, 1, keep, NULL, &ideal, &how))
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < s.t[db].n; i++) {
		zeros += ideal[db][i] == 0;
		recorded += hu_get(&s.t[db], i) != 0;
	}
	ok(zeros == 4 && recorded > 0,
		"the gradient of a bias before batchnorm is 0 in the exact step, and not as recorded (%zu of 4)",
		recorded);
	for (int i = 0; i < s.p->nt; i++)
		hu_room_free(ideal[i]);
	free(ideal);
	free(keep);
	unmake(&s);
}

/* Products that say that they are as many operations as a step may have that MPFR computes as well. */
static void
costly(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost)
{
	HU_COLUMN(&hu_op_matmul, cost)(c, in, out, cost);
	cost->flops += HU_PROPAGATE_OPERATIONS;
}

/* Of such a step double-double's figures are told where the two precisions agree: those that need no agreement to the
   last bit as of an affordable step, the others within their bounds of what MPFR tells, and none that MPFR contradicts.
 */
static void
too_many_operations(const step *s, const char *name)
{
	size_t n = (size_t)s->p->nt, known = 0, same = 0, wrong = 0, lost = 0;
	hu_errors_step *plain = hu_xcalloc(n, sizeof *plain), *m = hu_xcalloc(n, sizeof *m);
	hu_propagation one = { 0 }, two = { 0 };
	hu_op many = hu_op_matmul;

	propagate(s, "auto", plain, &one);
	many.own.cost = costly;
	for (int i = 0; i < s->p->nc; i++)
		if (s->p->c[i].op == &hu_op_matmul)
			s->p->c[i].op = &many;
	propagate(s, "auto", m, &two);
	for (int i = 0; i < s->p->nt; i++) {
		const hu_errors_step *x = &plain[i], *y = &m[i];
		known += y->known != 0;
		lost += x->known && !y->known;
		same += y->known && x->known && y->ulp_max == x->ulp_max && y->rel_normwise == x->rel_normwise;
		wrong +=
			y->known && !(y->settled && x->known && near(y->ulp_max, x->ulp_max, y->off_max + x->off_max) &&
					    near(y->ulp_mean, x->ulp_mean, y->off_mean + x->off_mean) &&
					    near(y->rel_normwise, x->rel_normwise, y->off_rel + x->off_rel));
	}
	for (int i = 0; i < s->p->nc; i++)
		if (s->p->c[i].op == &many)
			s->p->c[i].op = &hu_op_matmul;
	ok(!wrong && known == two.tensors && two.left == lost && known + lost == one.tensors && !two.by_mpfr &&
			two.steps == 1 && two.judged == one.judged && two.agreed > 0 && same + two.agreed >= known,
		"%s, with too many operations for MPFR: %zu tensors have figures, %zu the same to the last bit, %zu by "
		"the agreement of two precisions and none that MPFR contradicts; %zu are left without",
		name, known, same, two.agreed, lost);
	free(plain);
	free(m);
}

int
main(void)
{
	static const struct {
		const char *model, *policy;
		int exactly;
	} cases[] = {
		{ "mlp", "float32", 0 },
		{ "mlp", "mixed_float16", 0 },
		{ "mlp", "float64", 0 },
		{ "convnet", "float64", 1 },
		{ "convnet", "float32", 0 },
		{ "convnet", "mixed_bfloat16", 0 },
		{ "convnet", "mixed_e4m3", 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		step s;
		char *name = hu_xprintf("%s, %s", cases[i].model, cases[i].policy);
		make(&s, cases[i].model, cases[i].policy, 1e-3);
		call_by_call(&s, name);
		figures(&s, name, cases[i].exactly, 0);
		if (cases[i].exactly)
			too_many_operations(&s, name);
		if (i == 0) {
			sharing(&s);
			found_out(&s);
			without_enclosures(&s);
		}
		unmake(&s);
		free(name);
	}
	step far; /* whose weights are so large that terms cancel beyond the digits of one precision */
	make(&far, "mlp", "float32", 1e3);
	figures(&far, "mlp, float32, diverging", 1, 1);
	unmake(&far);
	vanishes();
	return done_testing();
}
