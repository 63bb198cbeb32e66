/* SPDX-License-Identifier: Apache-2.0
   Products of small integers are exact whatever the order: replayed, every error is
   zero and nothing is swamped. One bit changed, and it is not. */
#include "lib/judge/errors.h"
#include "lib/judge/judge.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/program/exec.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

/* Fills with integers from -7 to 7. */
static void
integers(hu_tensor *t, uint64_t seed)
{
	for (size_t i = 0; i < t->n; i++)
		hu_put(t, i, (double)(hu_random_at(seed, 1, 0, i).w[0] % 15) - 7);
}

static void
judge(const hu_program *p, hu_tensor *t, const char *what, size_t *wrong, size_t *over)
{
	const hu_call *c = &p->c[0];
	hu_tensor *in[2] = { &t[c->in[0]], &t[c->in[1]] };
	const hu_engine *engine;
	hu_judged *j;
	size_t n, *all = hu_sample(1, what, 0, t[c->out[0]].n, 0, &n);

	*wrong = *over = 0;
	if (hu_engine_find("mpfr", &engine) != HU_OK ||
		hu_judge(engine, c, in, 0, &t[c->out[0]], all, n, 0, &j) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < n; i++) {
		*wrong += j->ulps[i] != 0 || j->error[i] != 0 || j->exact[i] != j->got[i];
		*over += (size_t)j->over[i];
	}
	hu_judged_free(j);
}

static void
one(const char *op, hu_shape a, hu_shape b, hu_format_id f)
{
	hu_program *p = hu_program_new("test");
	int in[2] = { hu_program_tensor(p, "l.x", f, a, HU_ACTIVATION), hu_program_tensor(p, "l.w", f, b, HU_WEIGHT) };
	int y = hu_program_apply(p, op, HU_FORWARD, "l", in, 2, "l.y", f, HU_ACTIVATION, NULL, 0);
	const hu_call *c = &p->c[0];
	hu_env env = { 1, 0 };
	hu_swamp s = { 0, 0, 0, 0 };
	hu_exec x;
	size_t wrong, over;

	if (hu_exec_init(&x, p) != HU_OK)
		bail_out("%s", hu_reason());
	integers(&x.t[in[0]], 1);
	integers(&x.t[in[1]], 2);
	hu_exec_call(p, 0, x.t, &env);
	judge(p, x.t, op, &wrong, &over);
	ok(!wrong && !over, "%s of small integers in %s: %zu outputs, no error", op, hu_format_name(f), x.t[y].n);
	size_t n, *all = hu_sample(1, op, 0, x.t[y].n, 0, &n);
	hu_tensor *operands[2] = { &x.t[in[0]], &x.t[in[1]] };
	HU_COLUMN(c->op, swamping)(c, operands, 0, all, n, &env, &s);
	ok(s.additions > 0 && !s.swamped && s.outputs == n, "and %llu additions, none swamped",
		(unsigned long long)s.additions);
	free(all);
	hu_put(&x.t[y], n / 2, hu_get(&x.t[y], n / 2) + 1);
	judge(p, x.t, op, &wrong, &over);
	ok(wrong == 1 && over == 1, "one output that is off by one has an error and leaves the bound");
	hu_exec_release(&x);
	hu_program_free(p);
}

/* A sum of squares far beyond a double's range beside errors well within it: 2^500 with an error of one ulp, 2^448, and
   2^-500 without one. */
static void
far(void)
{
	size_t element[2] = { 0, 1 };
	double exact[2] = { 0x1p500, 0x1p-500 }, got[2] = { 0x1.0000000000001p500, 0x1p-500 },
	       error[2] = { 0x1p448, 0 }, ulps[2] = { 1, 0 }, magnitude[2] = { 0x1p500, 0x1p-500 },
	       bound[2] = { 0x1p449, 0x1p-500 };
	char over[2] = { 0, 0 };
	hu_errors m;
	hu_judged j = { .n = 2, .of = 2, .element = element, .exact = exact, .got = got, .error = error, .ulps = ulps,
		.bound = bound, .magnitude = magnitude, .over = over };

	hu_errors_local(&m, &j);
	is_near(m.normwise, 0x1p-52, 1e-15, "the norm of values near 2^500 and 2^-500");
	is_near(m.componentwise, 0x1p-52, 1e-15, "and the largest relative error");
}

/* Two errors that are nearly the same: the variance is what is left of squares near 2^54, whose last bit a double has
   not got. Two of four judged: half of the variance of the mean. */
static void
cancelling(void)
{
	size_t element[2] = { 1, 3 };
	double ulps[2] = { 0x1p27 + 1, 0x1p27 }, ones[2] = { 1, 1 };
	char over[2] = { 0, 0 };
	hu_errors m;
	hu_judged j = { .n = 2, .of = 4, .element = element, .exact = ones, .got = ones, .error = ones, .ulps = ulps,
		.bound = ones, .magnitude = ones, .over = over };

	hu_errors_local(&m, &j);
	is_near(m.ulp_mean, 0x1p27 + 0.5, 0, "the mean of two large errors");
	is_near(m.ci95, 1.96 * sqrt(0.5 / 2 * (1 - 2.0 / 4)), 1e-12, "its interval, from squares that cancel");
	ok(m.worst == 1 && m.ulp_max == 0x1p27 + 1, "the first of the largest");
}

int
main(void)
{
	far();
	cancelling();
	one("matmul", hu_shape2(37, 61), hu_shape2(61, 19), HU_FP16);
	one("matmul", hu_shape2(5, 300), hu_shape2(300, 7), HU_FP32);
	one("matmul", hu_shape2(5, 40), hu_shape2(40, 7), HU_FP64);
	one("conv2d", hu_shape4(2, 9, 7, 3), hu_shape4(5, 5, 3, 8), HU_FP32);
	return done_testing();
}
