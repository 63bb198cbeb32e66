/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel/culprit.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *key, *values, *words;
} table[] = {
#define ALTERNATIVE(key, values, words) { #key, values, words },
#include "analyzers/judge/kernel/alternatives.def"
#undef ALTERNATIVE
};

/* The best alternative so far: the one under which the result is right and most likely, else the one whose values are
   nearest. */
typedef struct best {
	double deviance, rms, first; /* first: the distance from the declared graph */
	const hu_balls *exact;       /* that graph's values */
	char right[96], as_if[160], near[160];
} best;

/* The least mean square error, of what an alternative's model has, by which it explains an error. The model of a sum
   that is accumulated in few bits has the sum of magnitudes S in the place of partial sums: of K terms of both signs
   their square is some S^2 / K, and at most the sum's own where terms have one sign. Sequential sums of normal numbers
   have 0.7 / K of the model's mean square error, those in a tree of 1024 terms 0.02 / K, and those of one sign, which
   swamp their terms, up to 2 where K is 330. */
#define LEAST_ENERGY 0.02
#define LEAST_OF_SUMS 0.0005
#define LEAST_OF_TERMS 0.02
#define MOST_OF_SUMS 4.0

/* Roundings of every element err everywhere: an error whose kurtosis is above this, of so many elements at least,
   stands in few of them, and bounds that are wider for all of them do not explain it. */
#define MOST_KURTOSIS 12.0
enum { LEAST_ELEMENTS = 200 };

/* Variances of models are good within a factor of about e: so much likelier a kernel's own fact is taken to be than one
   of all operations. */
#define OWN_FACT 1.0

/* The range of mean square errors, of the model's, that sums in few bits have, where most other mistakes err by more or
   by less. All errors but those of R additions in units of u are left out of account, whose radius is (1+u)^R - 1 and
   whose standard deviation sqrt(R) u, times S. */
static void
energies_of_sums(const hu_facts *facts, const hu_balls *x, double range[2])
{
	hu_roundoffs a;
	double r = 0, s = 0, v = 0, squares = 0, low = 1, high = 1e8;

	range[0] = LEAST_OF_SUMS;
	range[1] = INFINITY;
	for (size_t i = 0; i < x->n; i++) {
		hu_ball b = x->b[i];
		if (!hu_isfinite(b.x) || !(b.r < INFINITY) || !(b.v > 0))
			continue;
		r += b.r;
		s += sqrt(b.v);
		v += b.v;
		squares += b.x * b.x;
	}
	if (hu_facts_arithmetic(facts, &a) != HU_OK || !(s > 0))
		return;
	double u = a.run ? a.outer : a.acc;
	while (high / low > 1.01) {
		double n = sqrt(low * high);
		*(expm1(n * log1p(u)) / (sqrt(n) * u) < r / s ? &low : &high) = n;
	}
	double terms = low * (double)(a.run ? a.run : 1), share = squares / (v / (low * u * u));
	if (!a.run) /* there may be fewer terms than a run has */
		range[0] = fmin(LEAST_OF_SUMS, LEAST_OF_TERMS / terms);
	range[1] = MOST_OF_SUMS * (1 / terms + fmin(share, 1));
}

/* Errors are counted up to a thousand ulps, so that a few elements do not decide. */
static double
distance(const double *got, const hu_balls *x, hu_format f)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		double e = fabs(got[i] - x->b[i].x) / (2 * hu_ball_half_ulp(x->b[i].x, f));
		if (isnan(x->b[i].x) && isnan(got[i]))
			e = 0;
		e = e < 1000 ? e : 1000;
		sum += e * e;
		n++;
	}
	return n ? sqrt(sum / (double)n) : 0;
}

/* How much of the error's energy remains where an alternative's values are taken from the result. No error counts less
   for being large, so that values that are all far away are near to nothing. */
static double
remains(const double *got, const hu_balls *x, const hu_balls *declared)
{
	double rest = 0, all = 0;

	for (size_t i = 0; i < x->n && declared->n == x->n; i++) {
		double d = got[i] - x->b[i].x, e = got[i] - declared->b[i].x;
		if (!hu_isfinite(d) || !hu_isfinite(e))
			continue;
		rest += d * d;
		all += e * e;
	}
	return all > 0 ? rest / all : INFINITY;
}

/* The kurtosis of errors in units of the model's: 3 where they are normal, 1.8 where uniform, and as many times more as
   the elements are fewer that err at all. */
static double
kurtosis(const double *got, const hu_balls *x, hu_format f)
{
	double two = 0, four = 0;
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		hu_ball b = x->b[i];
		double h = hu_ball_half_ulp(b.x, f), e = got[i] - b.x, q = e * e / ((b.v + h * h) / 3 + b.c * b.c);
		if (!hu_isfinite(q))
			continue;
		two += q;
		four += q * q;
		n++;
	}
	return n >= LEAST_ELEMENTS && two > 0 ? (double)n * four / (two * two) : 0;
}

/* How unlikely a result is where errors are normal and have the model's variances, in twice the logarithm, a constant
   aside: wide bounds, which hold everything, are as unlikely as errors that are too large for narrow ones. */
static double
deviance(const double *got, const hu_balls *x, hu_format f)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		hu_ball b = x->b[i];
		double h = hu_ball_half_ulp(b.x, f), e = got[i] - b.x, m = (b.v + h * h) / 3 + b.c * b.c;
		if (!(m > 0) || !hu_isfinite(m) || !hu_isfinite(e))
			continue;
		sum += log(m) + e * e / m;
		n++;
	}
	return n ? sum / (double)n : 0;
}

/* Rows of which an alternative's mask leaves nothing do not speak against it: a kernel may take them another way.
   Returns 1 where it does, so that the result is not right by the alternative alone. */
static int
leave_open(hu_balls *x, const double *got, hu_format f)
{
	int other = 0;

	for (size_t i = 0; i < x->n; i++)
		if (hu_ball_is_nothing(x->b[i])) {
			other |= !hu_ball_nothing_allows(x->b[i], got[i], f);
			x->b[i] = hu_ball_special(NAN, 0);
		}
	return other;
}

/* Judges the result again under facts, but for rows that these leave open (other: in which the result has what they
   do not allow). HU_OK with right = -1 where the graph does not run under them. */
static hu_status
again(const hu_kernel_job *j, const hu_judge_result *r, const hu_balls *exact, const hu_facts *facts,
	hu_kernel_verdict *v, double *rms, double *unlikely, double *peaked, double *left, double sums[2], int *right,
	int *other)
{
	hu_balls *x = NULL, *declared = NULL;
	int id = r->id;

	*right = -1;
	*other = 0;
	hu_status st = hu_kernel_job_values(j, facts, HU_STORES_ADD, &x);
	if (st == HU_OK && x[id].n == r->v.n) {
		*other = leave_open(&x[id], r->got, r->f);
		hu_kernel_judge(v, r->got, &x[id], &x[id], NULL, r->f, j->confidence);
		*rms = distance(r->got, &x[id], r->f);
		*unlikely = deviance(r->got, &x[id], r->f);
		*peaked = kurtosis(r->got, &x[id], r->f);
		*left = remains(r->got, &x[id], exact);
		energies_of_sums(facts, &x[id], sums);
		*right = v->word == HU_KERNEL_RIGHT;
		if (*right && hu_kernel_job_values(j, facts, HU_STORES_DECIDE, &declared) == HU_OK) {
			leave_open(&declared[id], r->got, r->f);
			hu_kernel_judge(v, r->got, &x[id], &declared[id], NULL, r->f, j->confidence);
			*right = v->word == HU_KERNEL_RIGHT;
		}
	}
	hu_kernel_values_free(j, x);
	hu_kernel_values_free(j, declared);
	return st == HU_ENOMEM || st == HU_EIO ? st : HU_OK;
}

/* Whether the graph reads the fact: an operator's key names it, or every operator does. */
static int
is_read(const hu_kernel_job *j, const char *key)
{
	char name[72];

	if (!strcmp(key, "missing"))
		return 1;
	for (int i = 0; hu_fact_at(i); i++)
		if (!strcmp(hu_fact_at(i)->key, key))
			return 1;
	snprintf(name, sizeof name, "$%s", key);
	for (int i = 0; i < j->graph.nc; i++)
		for (int k = 0; k < j->graph.call[i].nkey; k++)
			if (!strcmp(j->graph.call[i].key[k].value, name))
				return 1;
	return 0;
}

/* Whether the fact KEY=VALUE is one of the kernel's own. */
static int
own_fact(const char *fact)
{
	size_t n = strcspn(fact, "=");

	for (int i = 0; hu_fact_at(i); i++)
		if (strlen(hu_fact_at(i)->key) == n && !strncmp(hu_fact_at(i)->key, fact, n))
			return 0;
	return n > 0;
}

/* Whether a kernel may accumulate so: in the type of its operands, where that has 16 bits, or in a wider one. */
static int
plausible(const hu_kernel_job *j, const char *key, const char *value)
{
	const char *in = hu_facts_text(&j->facts, "in");
	size_t n = in ? strlen(in) : 0;

	if (strncmp(key, "acc", 3) || !in || (strcmp(in, "bf16") && strcmp(in, "fp16")))
		return 1;
	return !strncmp(value, in, n);
}

/* Takes an alternative into account, whose words these are. One that widens the bounds explains an error only where the
   error is of the size that it would have: bounds that hold everything explain nothing. */
static hu_status
weigh(const hu_kernel_job *as, const hu_judge_result *r, const hu_facts *facts, const char *fact, const char *words,
	best *b)
{
	hu_kernel_verdict v = { .n = 0 };
	double rms = INFINITY, unlikely = INFINITY, peaked = 0, left = INFINITY, sums[2] = { 0, 0 };
	int right, other, sizes;

	HU_TRY(again(as, r, b->exact, facts, &v, &rms, &unlikely, &peaked, &left, sums, &right, &other));
	if (right < 0 || v.unbounded > r->v.unbounded + r->v.n / 20)
		return HU_OK;
	if (own_fact(fact))
		unlikely -= OWN_FACT;
	sizes = strncmp(fact, "acc", 3) ? v.energy > LEAST_ENERGY : v.energy > sums[0] && v.energy < sums[1];
	if (right && (v.radius <= 2 * r->v.radius || (peaked <= MOST_KURTOSIS && sizes)) && unlikely < b->deviance) {
		b->deviance = unlikely;
		snprintf(b->right, sizeof b->right, "%s", other ? "" : fact);
		snprintf(b->as_if, sizeof b->as_if, "%s", words);
	}
	if (!right && rms < 0.25 * b->first && left < 0.0625 && rms < b->rms) {
		b->rms = rms;
		snprintf(b->near, sizeof b->near, "%s", words);
	}
	return HU_OK;
}

/* A count that is so many more or fewer than the declared one; there is none of a count of 0 or below 1. */
static int
relative(const char *now, const char *by, char moved[32])
{
	char *end = NULL;
	long long n = now ? strtoll(now, &end, 10) : 0;

	if (n <= 0 || *end || n + atoll(by) < 1)
		return 0;
	snprintf(moved, 32, "%lld", n + atoll(by));
	return 1;
}

/* Tries every alternative of every fact. */
static hu_status
facts_of(const hu_kernel_job *j, const hu_judge_result *r, best *b)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		char values[200], *save = NULL;
		const char *now = hu_facts_text(&j->facts, table[i].key);
		if (!is_read(j, table[i].key))
			continue;
		snprintf(values, sizeof values, "%s", table[i].values);
		for (char *s = strtok_r(values, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
			hu_facts facts;
			char fact[96], words[160], moved[32];
			if (*s == '~' && !relative(now, s + 1, moved))
				continue;
			const char *value = *s == '~' ? moved : s;
			if ((now && !strcmp(now, value)) || !plausible(j, table[i].key, value))
				continue;
			snprintf(fact, sizeof fact, "%s=%s", table[i].key, value);
			snprintf(words, sizeof words, table[i].words, value);
			hu_facts_copy(&facts, &j->facts);
			hu_facts_set(&facts, table[i].key, value);
			hu_status st = weigh(j, r, &facts, fact, words, b);
			hu_facts_release(&facts);
			HU_TRY(st);
		}
	}
	return HU_OK;
}

/* An optional operand that the kernel left out, and two operands that it exchanged. */
static hu_status
operands_of(const hu_kernel_job *j, const hu_judge_result *r, best *b)
{
	char words[160], optional[80];

	for (int i = 0; i < j->nin; i++) {
		hu_kernel_job as = *j;
		snprintf(optional, sizeof optional, "%s?", j->in[i].name);
		snprintf(words, sizeof words, "%s were left out", j->in[i].name);
		for (int k = i; k + 1 < j->nin; k++)
			as.in[k] = j->in[k + 1];
		as.nin--;
		if (j->composite && strstr(j->composite->operands, optional))
			HU_TRY(weigh(&as, r, &j->facts, "", words, b));
		for (int k = i + 1; k < j->nin; k++) {
			const hu_npy *p = &j->in[i].a, *q = &j->in[k].a;
			if (p->rank != q->rank || memcmp(p->shape, q->shape, (size_t)p->rank * sizeof *p->shape))
				continue;
			as = *j;
			as.in[i].id = j->in[k].id;
			as.in[k].id = j->in[i].id;
			snprintf(words, sizeof words, "%s and %s were exchanged", j->in[i].name, j->in[k].name);
			HU_TRY(weigh(&as, r, &j->facts, "", words, b));
		}
	}
	return HU_OK;
}

/* Another function in the place of one that is often taken for it. */
static hu_status
functions_of(const hu_kernel_job *j, const hu_judge_result *r, best *b)
{
	static const char *const kin[] = { "gelu", "gelu_tanh", "silu", "relu", "sigmoid", "tanh", "mish", "softplus",
		"elu" };
	enum { KIN = sizeof kin / sizeof *kin };

	for (int i = 0; i < j->graph.nc; i++) {
		hu_ball_call *c = &j->graph.call[i];
		const hu_ball_row *row = c->row;
		int mine = 0;
		for (int k = 0; k < KIN; k++)
			mine |= !strcmp(row->name, kin[k]);
		hu_status st = HU_OK;
		for (int k = 0; k < KIN && mine && st == HU_OK; k++) {
			char words[160];
			if (!strcmp(row->name, kin[k]))
				continue;
			snprintf(words, sizeof words, "%s were %s", row->name, kin[k]);
			c->row = hu_ball_row_find(kin[k]);
			st = weigh(j, r, &j->facts, "", words, b);
		}
		c->row = row;
		HU_TRY(st);
	}
	return HU_OK;
}

hu_status
hu_kernel_culprit(const hu_kernel_job *j, hu_judge_result *r, const hu_balls *x)
{
	best b = { INFINITY, INFINITY, distance(r->got, x, r->f), x, "", "", "" };

	if (hu_kernel_layout(r, x))
		return HU_OK;
	HU_TRY(operands_of(j, r, &b));
	HU_TRY(functions_of(j, r, &b));
	HU_TRY(facts_of(j, r, &b));
	if (*b.as_if) {
		snprintf(r->right_if, sizeof r->right_if, "%s", b.right);
		snprintf(r->as_if, sizeof r->as_if, "as if %s", b.as_if);
	} else if (*b.near) {
		snprintf(r->as_if, sizeof r->as_if, "more as if %s", b.near);
	}
	return *r->as_if ? HU_OK : hu_kernel_tangents(j, r, x);
}
