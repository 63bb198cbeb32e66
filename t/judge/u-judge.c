/* SPDX-License-Identifier: Apache-2.0
   The judge on an operator made for it: y = x/3 with a bound of half an ulp, and
   sampling. Errors are compared with those worked out in integers. */
#include "lib/judge/harm.h"
#include "lib/judge/judge.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"
#include "t/judge/third.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static hu_status
half_ulp(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *bound)
{
	(void)c;
	(void)out;
	for (size_t i = 0; i < n; i++)
		bound[i] = 0.5 * ldexp(1, hu_ulp_exponent(hu_get(in[0], element[i]) / 3, hu_format_of(HU_FP16)));
	return HU_OK;
}

/* Enclosures of the same, LIE: with an error bound that does not hold. */
static double lie;

static hu_status
enclosed(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);

	for (size_t i = 0; i < n; i++) {
		v[i] = hu_dd_div(hu_dd_of(hu_get(in[0], element ? element[i] : i)), hu_dd_of(3));
		v[i].h *= 1 + lie;
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}

enum { N = 5000 };

static int
ascending_and_distinct(const size_t *e, size_t n, size_t of)
{
	for (size_t i = 0; i < n; i++)
		if (e[i] >= of || (i && e[i] <= e[i - 1]))
			return 0;
	return 1;
}

static void
sampling(void)
{
	size_t n, m, hits[100] = { 0 };
	size_t *a = hu_sample(1, "conv1.y", 3, 1000, 100, &n), *b = hu_sample(1, "conv1.y", 3, 1000, 100, &m);
	int same = n == m, low = 0;

	is_int((long long)n, 100, "100 of 1000");
	ok(ascending_and_distinct(a, n, 1000), "ascending, none twice");
	for (size_t i = 0; i < n && same; i++)
		same = a[i] == b[i];
	ok(same, "the same arguments give the same sample");
	free(b);
	b = hu_sample(2, "conv1.y", 3, 1000, 100, &m);
	for (size_t i = 0; i < n; i++)
		same &= a[i] == b[i];
	ok(!same, "another seed gives another");
	free(a);
	free(b);
	a = hu_sample(1, "x.y", 0, 50, 0, &n);
	ok(n == 50 && ascending_and_distinct(a, n, 50), "0: all of them");
	free(a);
	/* 10 of 100, 4000 times: every index 400 times, with a standard deviation below 20 */
	for (uint64_t s = 0; s < 4000; s++) {
		a = hu_sample(s, "x.y", 0, 100, 10, &n);
		for (size_t i = 0; i < n; i++)
			hits[a[i]]++;
		free(a);
	}
	for (int i = 0; i < 100; i++)
		low += hits[i] < 300 || hits[i] > 500;
	is_int(low, 0, "every element has the same chance (within 5 standard deviations)");
}

/* Which outputs of a loss of so many terms have a value that is judged again in any case: a bit for each. */
static int
drawn(const hu_op *op, int nout, size_t terms)
{
	hu_call c = { .op = op, .nin = 1, .nout = nout };
	hu_tensor x = { .n = terms }, *in[1] = { &x };
	int seen = 0;

	for (uint64_t draw = 0; draw < 64; draw++)
		seen |= 1 << hu_judge_drawn(&c, in, draw);
	return seen;
}

static void
draws(void)
{
	is_int(drawn(&hu_op_softmax_xent, 2, 8192), 3, "both outputs of a loss of 8192 terms may be judged again");
	is_int(drawn(&hu_op_softmax_xent, 2, 8193), 2, "of more terms, the loss itself is not");
	is_int(drawn(&hu_op_softmax_xent, 1, 8193), 1, "unless its call has no other output");
	is_int(drawn(&hu_op_layernorm, 3, 8193), 7, "and other calls have all their outputs drawn");
}

/* Elements together are what they are one by one, zeros, lost ones and those that are not finite included. */
static void
together(void)
{
	double got[64], exact[64];
	hu_harm each = { .nonfinite = 0 }, all = { .exact2 = 2, .got2 = 3, .lost2 = 1, .dot = 1, .nonfinite = 5 };

	for (uint32_t i = 0; i < 64; i++) {
		hu_random w = hu_random_at(6, 1, 0, i);
		exact[i] = i % 7 == 1 ? 0 : i % 19 == 2 ? INFINITY : (double)w.w[0] / 3 - 7e8;
		got[i] = i % 5 == 1 ? 0 : i % 23 == 3 ? NAN : exact[i] + w.w[1] % 5;
	}
	hu_harm_add_all(&each, got, exact, 8);
	hu_harm_add_all(&each, got + 8, exact + 8, 56);
	for (int i = 0; i < 64; i++)
		hu_harm_add(&all, got[i], exact[i], got[i] == 0 && exact[i] != 0);
	for (int i = 0; i < 2; i++) { /* the second time after what is there */
		if (i) {
			each = (hu_harm){ .exact2 = 2, .got2 = 3, .lost2 = 1, .dot = 1, .nonfinite = 5 };
			hu_harm_add_all(&each, got, exact, 64);
		}
		ok(i ? each.exact2 == all.exact2 && each.got2 == all.got2 && each.lost2 == all.lost2 &&
			       each.dot == all.dot && each.nonfinite == all.nonfinite
		     : each.exact2 > 0 && each.lost2 > 0 && each.nonfinite == all.nonfinite - 5,
			"harm of %s elements is that of each by itself", i ? "more" : "64");
	}
}

/* What several calls told, together. */
static void
methods(void)
{
	hu_methods all = { 1, 20, 300, 4000 }, one = { 5, 60, 700, 8000 };

	hu_methods_add(&all, &one);
	ok(all.exact == 6 && all.certified == 80 && all.oracle == 1000 && all.again == 12000 && one.exact == 5,
		"two counts of methods together: %zu exact, %zu certified, %zu by the reference, %zu again", all.exact,
		all.certified, all.oracle, all.again);
}

static void
said(const hu_harm *h, const char *want)
{
	hu_str s;

	hu_str_init(&s);
	hu_harm_say(&s, h, "the update");
	is_text(s.s, want, "harm in words: %s", want);
	hu_str_release(&s);
}

static void
harm_in_words(void)
{
	hu_harm h = { 0, 0, 0, 0, 0 }, two = { 0, 0, 0, 0, 0 };

	hu_harm_add(&h, 0, 0, 0);
	said(&h, "the update is 0");
	hu_harm_add(&h, INFINITY, 1, 0);
	said(&h, "1 element of the update is not finite, the others are 0");
	hu_harm_add(&h, 0, 3, 1);
	hu_harm_add(&h, 4, 4, 0);
	said(&h, "1 element of the update is not finite; of the others, 0.6 of the update's L2 norm lost, cosine 0.8");
	hu_harm_add(&two, 1, NAN, 0);
	hu_harm_merge(&h, &two);
	said(&h,
		"2 elements of the update are not finite; of the others, 0.6 of the update's L2 norm lost, cosine 0.8");
	h.nonfinite = 0;
	said(&h, "0.6 of the update's L2 norm lost, cosine 0.8");
	is_text(hu_harm_verdict(&h), "fatal", "and the verdict on them");
	is_text(hu_harm_verdict(&two), "fatal", "on an element that is not finite");
}

int
main(void)
{
	static float x[N], y[N];
	hu_op op = { .name = "third", .nout = 1, .own = { .reference = third, .bound = half_ulp } };
	hu_call c = { .op = &op, .nin = 1, .nout = 1 };
	hu_tensor tx = { .format = HU_FP32, .shape = hu_shape1(N), .n = N, .data = x },
		  ty = { .format = HU_FP16, .shape = hu_shape1(N), .n = N, .data = y }, *in[1] = { &tx };
	hu_format f = hu_format_of(HU_FP16);
	const hu_engine *engine;
	hu_judged *j;
	size_t n, over = 0, wrong = 0, faulty = 0, named = 0;

	sampling();
	draws();
	together();
	for (uint32_t i = 0; i < N; i++) {
		x[i] = (float)ldexp((double)(1 + hu_random_at(5, 1, 0, i).w[0] % 2047), (int)(i % 30) - 24);
		y[i] = (float)hu_round(x[i] / 3.0, f, HU_RNE, 0, 0);
		if (i % 100 == 0) { /* one ulp off */
			y[i] += (float)ldexp(1, hu_ulp_exponent(x[i] / 3.0, f));
			faulty++;
		}
	}
	ok(hu_engine_find("mpfr", &engine) == HU_OK && hu_engine_find("nonsense", &engine) == HU_EINVAL,
		"engines by name");
	hu_engine_find("auto", &engine);
	size_t *element = hu_sample(1, "t.y", 0, N, 0, &n);
	if (hu_judge(engine, &c, in, 0, &ty, element, n, 0, &j) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < j->n; i++) {
		/* |y - x/3| / ulp = |3y - x| / (3 ulp): 3y - x is exact in double */
		double ulp = ldexp(1, hu_ulp_exponent(x[i] / 3.0, f)), want = fabs(3.0 * y[i] - x[i]) / ulp / 3;
		over += (size_t)j->over[i];
		named += j->over[i] && i % 100 == 0;
		wrong += !(fabs(j->ulps[i] - want) <= want * 0x1p-52);
	}
	is_int((long long)wrong, 0, "every error in ulps is right");
	is_int((long long)named, (long long)faulty, "every output that is one ulp off leaves the bound");
	is_int((long long)over, (long long)faulty, "and no other does");
	ok(j->magnitude[7] == fabs(x[7] / 3.0), "without magnitudes of its own an operator has |exact|");

	hu_op fast = op;
	hu_judged *k;
	size_t differ = 0;
	fast.own.enclose = enclosed;
	c.op = &fast;
	element = hu_sample(1, "t.y", 0, N, 0, &n);
	if (hu_judge(engine, &c, in, 0, &ty, element, n, 0, &k) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < k->n; i++)
		differ += k->ulps[i] != j->ulps[i] || k->error[i] != j->error[i] || k->exact[i] != j->exact[i] ||
			  k->over[i] != j->over[i] || k->magnitude[i] != j->magnitude[i];
	ok(!differ && k->methods.certified > N / 2 && k->methods.again == 1 &&
			k->methods.exact + k->methods.certified + k->methods.oracle == N,
		"by enclosures the same: %zu exact, %zu certified, %zu by the reference, %zu judged again",
		k->methods.exact, k->methods.certified, k->methods.oracle, k->methods.again);
	hu_judged_free(k);
	hu_judged_free(j);
	fflush(stdout);
	pid_t child = fork();
	int status = 0;
	if (child == 0) {
		lie = 0x1p-30;
		if (!freopen("/dev/null", "w", stderr))
			_exit(9);
		element = hu_sample(1, "t.y", 0, N, 0, &n);
		_exit(hu_judge(engine, &c, in, 0, &ty, element, n, 0, &k) == HU_EUNABLE ? 5 : 0);
	}
	ok(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5,
		"of a call whose enclosure does not hold there is no verdict");

	mpfr_t e;
	mpfr_init2(e, 100);
	mpfr_set_ui(e, 0, MPFR_RNDN);
	is_near(hu_judge_ulps(0x1p-24, e, f), 1, 0, "for exact = 0 the unit is the smallest subnormal");
	mpfr_set_ui_2exp(e, 1, -30, MPFR_RNDN);
	is_near(hu_judge_ulps(0, e, f), 0x1p-6, 0, "and no unit is smaller");
	mpfr_set_inf(e, 1);
	is_near(hu_judge_ulps(INFINITY, e, f), 0, 0, "the same infinity: no error");
	ok(isinf(hu_judge_ulps(-INFINITY, e, f)) && isinf(hu_judge_ulps(65504, e, f)) &&
			isinf(hu_judge_ulps(NAN, e, f)),
		"else an infinite one");
	mpfr_set_nan(e);
	ok(hu_judge_ulps(NAN, e, f) == 0 && isinf(hu_judge_ulps(1, e, f)), "NaN for NaN");
	mpfr_clear(e);

	hu_harm h = { 0, 0, 0, 0, 0 };
	hu_harm_add(&h, 0, 3, 1);
	hu_harm_add(&h, 4, 4, 0);
	is_near(hu_harm_share(&h), 0.6, 0x1p-53, "share of the norm, not of its square");
	is_near(hu_harm_cosine(&h), 0.8, 0x1p-53, "cosine");
	is_text(hu_verdict(0.1, 0.99), "harmless", "harmless at its limits");
	is_text(hu_verdict(0.5, 1), "fatal", "fatal by the share");
	is_text(hu_verdict(0, 0.9), "fatal", "fatal by the cosine");
	is_text(hu_verdict(0.2, 0.98), "costs", "costs between");
	is_text(hu_verdict(NAN, 1), "-", "no verdict of nothing");
	harm_in_words();
	methods();
	return done_testing();
}
