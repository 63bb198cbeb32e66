/* SPDX-License-Identifier: Apache-2.0
   Exact values of a whole output as doubles, on an operator made for it: y = x/3. A few are found by the
   reference as well, and an enclosure that lies is found out. */
#include "lib/judge/exact.h"
#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "t/tool/aborts.h"
#include "t/judge/third.h"

#include <stdlib.h>
#include <string.h>

enum { N = 70000 };

static double lie;

static hu_status
enclosed(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	double *hi = hu_xcalloc(3 * n + 3, sizeof *hi), *lo = hi + n, *err = lo + n;
	hu_tile t = { .n = n, .hi = hi, .lo = lo, .err = err };

	(void)c;
	(void)out;
	for (size_t i = 0; i < n; i++) {
		hu_dd v = hu_dd_div(hu_dd_of(hu_get(in[0], element ? element[i] : i)), hu_dd_of(3));
		hi[i] = v.h * (1 + lie);
		lo[i] = lie ? 0 : v.l;
		err[i] = lie ? 0 : v.e;
	}
	sink->take(sink, &t);
	free(hi);
	return HU_OK;
}

typedef struct task {
	double *v;
	const hu_engine *engine;
	const hu_call *c;
	hu_tensor **in, *minus;
	size_t n;
} task;

static void
run(void *with)
{
	task *t = with;
	hu_methods l = { 0, 0, 0, 0 };

	if (hu_exact_doubles(t->v, t->engine, t->c, t->in, 0, t->minus, 0, t->n, &l) != HU_OK)
		_exit(strstr(hu_reason(), "not judged") ? 5 : 1);
}

int
main(void)
{
	hu_op op = { .name = "third", .own = { .reference = third, .enclose = enclosed } };
	hu_call c = { .id = 3, .op = &op };
	double *x = hu_xmalloc(N * sizeof *x), *v = hu_xmalloc(N * sizeof *v);
	hu_tensor in = { .format = HU_FP64, .n = N, .data = x }, *ins[1] = { &in };
	hu_methods l = { 0, 0, 0, 0 };
	const hu_engine *engine;
	int wrong = 0;

	ok(hu_engine_find("auto", &engine) == HU_OK && engine->enclose, "an engine that takes enclosures");
	for (int i = 0; i < N; i++)
		x[i] = 1 + 0x1p-20 * i;
	ok(hu_exact_doubles(v, engine, &c, ins, 0, NULL, 0, N, &l) == HU_OK, "%d values", N);
	for (int i = 0; i < N; i++)
		wrong += v[i] != x[i] / 3;
	is_int(wrong, 0, "each the nearest double");
	ok(l.certified + l.oracle == N &&
			l.certified >=
				N / 3, /* the others lie a third of an ulp off their double: left to the reference */
		"%zu by enclosures, %zu by the reference", l.certified, l.oracle);
	is_int((long long)l.again, 2, "two of them judged again: one in 65536, and one of the call");
	for (int minus = 0; minus < 2; minus++) {
		task t = { v, engine, &c, ins, minus ? &in : NULL, minus ? 100 : N };
		lie = 0;
		ok(!aborts(run, &t) && ended == 0, "%d %s without a lie", (int)t.n, minus ? "differences" : "values");
		lie = 0x1p-50;
		ok(!aborts(run, &t) && ended == 5 && strstr(said, "call 3 (third)") && strstr(said, "by MPFR"),
			"four ulps off, they are found out: %.200s", said);
	}
	free(x);
	free(v);
	mpfr_free_cache();
	return done_testing();
}
