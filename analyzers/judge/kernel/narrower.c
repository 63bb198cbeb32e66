/* SPDX-License-Identifier: Apache-2.0
   Whether a right result would be right by a narrower declaration too: where a value is declared to be stored in few
   bits, and the result's errors are far below those of that store, the kernel most likely does not store it. Nothing
   is judged by it; the answer names the declaration. */
#include "analyzers/judge/kernel/culprit.h"

#include <stdio.h>
#include <string.h>

/* The share of the mean square error of the declared roundings below which a narrower declaration is looked for: a
   model's variances are good within a factor of about e, either way. */
#define FAINT 0.125
/* How many times narrower the bound has to be to be worth a line. */
#define LEAST_GAIN 4.0

enum { MOST = 16 };

/* Facts that may be declared narrower than they are, and the values to try. */
typedef struct narrowing { const char *key, *value; } narrowing;

/* Formats that a value is stored in, by the facts that may also be none. */
static const struct { const char *key, *values; } formats[] = {
#define ALTERNATIVE(key, values, words) { #key, values },
#include "analyzers/judge/kernel/alternatives.def"
#undef ALTERNATIVE
};

static int
narrowings_of(const hu_kernel_job *j, narrowing w[MOST])
{
	int n = 0;

	for (size_t i = 0; i < sizeof formats / sizeof *formats && n < MOST; i++) {
		const char *now = hu_facts_text(&j->facts, formats[i].key);
		hu_format_id id;
		if (strncmp(formats[i].values, "none ", 5) || !now || !*now)
			continue;
		if (hu_facts_format(&j->facts, formats[i].key, &id) == HU_OK && id != HU_NO_FORMAT &&
			hu_format_of(id).p < 24)
			w[n++] = (narrowing){ formats[i].key, "none" };
	}
	for (int i = 0; hu_fact_at(i) && n < MOST; i++) {
		const hu_fact_row *f = hu_fact_at(i);
		const char *now = hu_facts_text(&j->facts, f->key);
		int operates = !strcmp(f->key, "acc") || !strcmp(f->key, "compute") || !strcmp(f->key, "exp") ||
			       !strcmp(f->key, "fn");
		if (operates && now && *now && strcmp(now, f->preset))
			w[n++] = (narrowing){ f->key, f->preset };
	}
	return n;
}

/* Judges the result with facts first … last-1. Where it is right, and its bound narrower than any before, the result
   gets their text. */
static hu_status
attempt(const hu_kernel_job *j, hu_judge_result *r, const narrowing *w, int first, int last)
{
	hu_facts facts;
	hu_balls *x = NULL;
	hu_kernel_verdict v = { .n = 0 };
	char text[sizeof r->narrower] = "";
	size_t at = 0;

	hu_facts_copy(&facts, &j->facts);
	for (int i = first; i < last && at < sizeof text; i++) {
		hu_facts_set(&facts, w[i].key, w[i].value);
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%s", at ? " " : "", w[i].key, w[i].value);
	}
	hu_status st = hu_kernel_job_values(j, &facts, HU_STORES_ADD, &x);
	if (st == HU_OK && x[r->id].n == r->v.n) {
		hu_kernel_judge(&v, r->got, &x[r->id], &x[r->id], NULL, r->f, j->confidence);
		double gain = v.radius > 0 ? r->v.radius / v.radius : 0;
		if (v.word == HU_KERNEL_RIGHT && v.unbounded <= r->v.unbounded && gain >= LEAST_GAIN &&
			gain > r->gain) {
			r->gain = gain;
			snprintf(r->narrower, sizeof r->narrower, "%s", text);
		}
	}
	hu_kernel_values_free(j, x);
	hu_facts_release(&facts);
	return st == HU_ENOMEM || st == HU_EIO ? st : HU_OK;
}

hu_status
hu_kernel_narrower(const hu_kernel_job *j, hu_judge_result *r)
{
	narrowing w[MOST];
	int n = 0;

	if (r->v.word == HU_KERNEL_RIGHT && r->v.energy < FAINT)
		n = narrowings_of(j, w);
	if (n)
		HU_TRY(attempt(j, r, w, 0, n));
	for (int i = 0; i < n && n > 1 && !*r->narrower; i++)
		HU_TRY(attempt(j, r, w, i, i + 1));
	return HU_OK;
}
