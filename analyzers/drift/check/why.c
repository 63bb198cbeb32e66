/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/check/why.h"

#include "analyzers/drift/baseline/baseline_program.h"
#include "lib/base/mem.h"
#include "lib/number/ulps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *
key_of(const hu_finding *f)
{
	return (f->want ? f->want : f->got)->key;
}

/* Appends how far a quantity moved in ulps: of its tensor's format where it is an error in ulps, or relative to a norm,
   whose ulp is then that of 1; of fp32 where it is a metric; nothing of a share or a cosine. */
static void
add_ulps(hu_str *s, const hu_check_report *r, const hu_finding *f, const hu_place *p)
{
	double moved = f->got->value - f->want->value;
	char text[32];
	hu_format_id tensor = p->tensor ? hu_program_row_format(r->got, p->tensor) : HU_NO_FORMAT;

	if (!strcmp(p->table, "metrics"))
		hu_str_addf(s, ", %s ulps of %s", hu_ulps_text(text, f->ulps, hu_format_of(f->want->format), 4),
			hu_format_name(f->want->format));
	else if (tensor != HU_NO_FORMAT && !strncmp(p->column, "ulp_", 4))
		hu_str_addf(s, ", %+.3g ulps of %s", moved, hu_format_name(tensor));
	else if (tensor != HU_NO_FORMAT && strstr(p->column, "normwise"))
		hu_str_addf(
			s, ", %+.3g ulps of %s at 1", ldexp(moved, hu_format_of(tensor).p - 1), hu_format_name(tensor));
}

/* Appends both values with as many digits as tell them apart. */
static void
add_pair(hu_str *s, double was, double is)
{
	char a[40], b[40];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(a, sizeof a, "%.*g", digits, was);
		snprintf(b, sizeof b, "%.*g", digits, is);
		if (strcmp(a, b))
			break;
	}
	hu_str_addf(s, "%s -> %s", a, b);
}

/* Appends the column, both values and how far they are apart. */
static void
add_amount(hu_str *s, const hu_check_report *r, const hu_finding *f, const hu_place *p)
{
	const hu_baseline_quantity *was = f->want, *is = f->got;

	hu_str_addf(s, "%s ", p->column);
	if (!was || !is) {
		hu_str_add(s, was ? "is missing in the run" : "is new");
		return;
	}
	if (!isfinite(was->value) || !isfinite(is->value)) {
		hu_str_addf(s, "%s -> %s", was->text, is->text);
		return;
	}
	add_pair(s, was->value, is->value);
	if (was->value != 0)
		hu_str_addf(s, " (%+.3g %%", 100 * (is->value - was->value) / fabs(was->value));
	else
		hu_str_addf(s, " (%+.3g", is->value);
	add_ulps(s, r, f, p);
	hu_str_add(s, ")");
}

static void
add_place(hu_str *s, const hu_check_report *r, const hu_place *p)
{
	const hu_baseline_quantity *row = p->tensor ? hu_program_row_of(r->got, p->tensor) : NULL;
	const char *text = row ? row->text : NULL;

	if (p->step >= 0)
		hu_str_addf(s, "%sstep %lld, ", strcmp(p->table, "exercise") ? "" : "exercise, ", p->step);
	if (p->call >= 0) {
		int op = text ? (int)strcspn(text, " ") : 0;
		hu_str_addf(s, "call %d %.*s%slayer %s (%s): ", p->call, op, text ? text : "", op ? ", " : "", p->layer,
			p->tensor);
	} else if (p->tensor) {
		hu_str_addf(s, "%s: ", p->tensor);
	}
}

static int
before(const hu_place *a, const hu_place *b)
{
	int x = a->call < 0, y = b->call < 0;

	/* A call says more than the loss that it moved, and a step's own calls stand before what they led to */
	if (a->step != b->step)
		return a->step < b->step;
	if (x != y || !x)
		return x != y ? x < y : a->call < b->call;
	return !strcmp(a->column, "loss") && strcmp(b->column, "loss");
}

/* The earliest failed quantity with a step, calls first; N where there is none. Rows that one of the two lacks and
   digests, which say no amount, only where there is nothing else. */
static size_t
first_of(const hu_check_report *r, hu_place *first)
{
	size_t best = r->n;

	for (int plain = 1; plain >= 0 && best == r->n; plain--)
		for (size_t i = 0; i < r->n; i++) {
			const hu_finding *f = &r->f[i];
			hu_place p;
			if (f->held < HU_DRIFT || (plain && (!f->want || !f->got || !f->want->number)))
				continue;
			hu_place_init(&p, key_of(f));
			if (p.step >= 0 && (best == r->n || before(&p, first))) {
				if (best < r->n)
					hu_place_release(first);
				*first = p;
				best = i;
			} else {
				hu_place_release(&p);
			}
		}
	return best;
}

/* The last step before FIRST whose digest is that of the baseline; -1 where there is none. */
static long long
last_same(const hu_check_report *r, long long step)
{
	long long last = -1;

	for (size_t i = 0; i < r->n; i++) {
		hu_place p;
		if (strncmp(key_of(&r->f[i]), "metrics/", 8) || r->f[i].held != HU_BIT_IDENTICAL)
			continue;
		hu_place_init(&p, key_of(&r->f[i]));
		if (!strcmp(p.column, "digest") && p.step > last && p.step < step)
			last = p.step;
		hu_place_release(&p);
	}
	return last;
}

/* Between which steps the state diverged, as far as the baseline has digests. */
static void
add_divergence(hu_str *s, const hu_check_report *r)
{
	long long other = hu_check_first_other(r), same = other >= 0 ? last_same(r, other) : -1;

	if (other < 0)
		return;
	if (other == 0 || same == other - 1)
		hu_str_addf(s, "; the state differs from step %lld on", other);
	else if (same >= 0)
		hu_str_addf(s, "; the state is the same until step %lld and differs after step %lld", same, other);
	else
		hu_str_addf(s, "; the state differs after step %lld at the latest", other);
}

char *
hu_check_why(const hu_check_report *r)
{
	hu_place first = { .step = -1 }, worst;
	size_t at, lead = 0;
	hu_str s;

	if (!r->failed)
		return NULL;
	while (lead + 1 < r->failed && hu_is_program_row(key_of(&r->f[lead])))
		lead++; /* other calls are a cause, and the next row is what they do */
	hu_str_init(&s);
	at = first_of(r, &first);
	if (at < r->n) {
		add_place(&s, r, &first);
		add_amount(&s, r, &r->f[at], &first);
	}
	add_divergence(&s, r);
	if (at != lead && !hu_is_program_row(key_of(&r->f[lead]))) {
		hu_place_init(&worst, key_of(&r->f[lead]));
		hu_str_add(&s, s.len ? "; worst: " : "");
		add_place(&s, r, &worst);
		add_amount(&s, r, &r->f[lead], &worst);
		hu_place_release(&worst);
	}
	hu_str_add(&s, s.len ? ". Most likely cause: " : "no number of the run moved yet. Most likely cause: ");
	hu_check_cause(&s, r, at < r->n ? &first : NULL);
	if (at < r->n)
		hu_place_release(&first);
	return s.s;
}
