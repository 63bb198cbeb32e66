/* SPDX-License-Identifier: Apache-2.0
   The analyzer nonfinite finds where infinities and NaN came from: in each traced step the first call whose operands
   are finite and whose result is not, with the element, its operands and the cause. An infinity that a call was asked
   for, such as that of a mask, is no fault; what is made of it may be. */
#include "analyzers/run/analyzer.h"
#include "analyzers/run/nonfinite/cause.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "lib/program/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                        \
	"step made call op phase layer tensor format element value cause exact constant operands nonfinite_elements"

/* How many elements of some are infinite, and how many are NaN; the first of each. */
typedef struct seen {
	size_t infinite, nan, first_infinite, first_nan;
} seen;

/* How many of the first n elements from `first` on are in whole blocks without infinity or NaN, up to a block that has
   one. */
static size_t
finite_ones(const hu_tensor *t, size_t first, size_t n)
{
	enum { BLOCK = 256 };
	size_t done = 0;

	for (; !hu_is_wide(t->format) && done + BLOCK <= n; done += BLOCK) {
		const float *x = (const float *)t->data + first + done;
		uint32_t most = 0;
		for (int i = 0; i < BLOCK; i++) {
			uint32_t u = hu_bits32(x[i]) & 0x7fffffff;
			most = u > most ? u : most;
		}
		if (most >= 0x7f800000)
			break;
	}
	return done;
}

static void
look(seen *s, const hu_tensor *t, hu_region some)
{
	size_t n = hu_region_count(some);

	memset(s, 0, sizeof *s);
	for (size_t i = some.row ? 0 : finite_ones(t, some.first, n); i < n; i++) {
		size_t at = hu_region_element(some, i);
		double x = hu_get(t, at);
		if (hu_isfinite(x))
			continue;
		if (isnan(x) && !s->nan++)
			s->first_nan = at;
		else if (!isnan(x) && !s->infinite++)
			s->first_infinite = at;
	}
}

static hu_region
whole(const hu_tensor *t)
{
	return (hu_region){ 0, t->n, 0, 0, 0 };
}

/* Whether the call writes infinities because it was asked to. */
static int
is_asked(const hu_call *c)
{
	return c->op->moves || isinf(hu_attr_num(c, "fill", 0)) || isinf(hu_attr_num(c, "value", 0));
}

/* The two origins of a step: of the first number that is not finite, made of finite ones; and of the first NaN, made of
   numbers and infinities. */
enum { NONFINITE, NAN_MADE, ORIGINS };

static const char *const made[] = { "nonfinite", "nan" };

/* What a unit, or a step, has of one origin: the tensor, and how many of its elements are not finite. */
typedef struct place {
	hu_origin o;
	int call, tensor;
	size_t bad;
} place;

static void
places_init(place *at)
{
	memset(at, 0, ORIGINS * sizeof *at);
	for (int i = 0; i < ORIGINS; i++)
		hu_str_init(&at[i].o.operands);
}

static void
places_release(place *at)
{
	for (int i = 0; i < ORIGINS; i++)
		hu_str_release(&at[i].o.operands);
}

/* Looks at the unit's share of the call's results. */
static hu_status
compute_call(hu_analysis *a, hu_trace *t, const hu_work_unit *u, place *at)
{
	const hu_call *c = &a->run->train->c[u->call];
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	seen out = { 0 }, of = { 0 };
	size_t nan = 0, infinite = 0;
	int k = 0;

	for (int i = 0; i < c->nout && !out.nan && !out.infinite; i++)
		if (t->t[c->out[i]].data) {
			look(&out, &t->t[c->out[i]], hu_analysis_part(a, u, i));
			k = i;
		}
	int suspect = (out.nan || out.infinite) && hu_analysis_inputs(c, t, in);
	for (int i = 0; suspect && i < c->nin; i++) {
		look(&of, in[i], whole(in[i]));
		nan += of.nan;
		infinite += of.infinite;
	}
	at[NONFINITE].o.found = suspect && !nan && !infinite && !is_asked(c);
	at[NAN_MADE].o.found = suspect && !nan && out.nan && !c->op->moves;
	at[NAN_MADE].o.element = out.first_nan;
	at[NONFINITE].o.element =
		!out.infinite || (out.nan && out.first_nan < out.first_infinite) ? out.first_nan : out.first_infinite;
	hu_status st = HU_OK;
	for (int i = 0; i < ORIGINS && st == HU_OK; i++) {
		hu_origin *o = &at[i].o;
		at[i].tensor = c->out[k];
		at[i].bad = out.nan + (i == NONFINITE ? out.infinite : 0);
		o->k = k;
		if (!o->found)
			continue;
		o->value = hu_get(&t->t[c->out[k]], o->element);
		st = hu_origin_explain(o, a, t, c, in);
	}
	free(in);
	return st;
}

/* Looks at tensors that no call makes. A state of which the step makes another value, and the data, are to be finite;
   of other tensors infinities may be asked for. *tensor gets the first. */
static hu_status
compute_inputs(hu_analysis *a, hu_trace *t, place *at)
{
	const hu_program *p = a->run->train;
	seen s;

	for (int i = 0; i < p->nt && !at->o.found; i++) {
		if (p->t[i].producer >= 0 || !t->t[i].data || p->t[i].cls == HU_WGRAD || p->t[i].cls == HU_GRADIENT)
			continue;
		HU_TRY(hu_run_trace_need(&t->file, i));
		look(&s, &t->t[i], whole(&t->t[i]));
		if (!s.nan && !(s.infinite && p->t[i].trainable))
			continue;
		at->o.found = 1;
		at->o.cause = HU_ORIGIN_INPUT;
		at->o.exact = NAN;
		at->o.element = s.nan ? s.first_nan : s.first_infinite;
		at->o.value = hu_get(&t->t[i], at->o.element);
		at->bad = s.nan + s.infinite;
		at->tensor = i;
	}
	return HU_OK;
}

static void
pack(hu_pack *r, place *at)
{
	int cause = (int)at->o.cause;

	hu_pack_int(r, &at->o.found);
	if (!at->o.found)
		return;
	hu_pack_int(r, &at->tensor);
	hu_pack_int(r, &cause);
	hu_pack_size(r, &at->o.element);
	hu_pack_size(r, &at->bad);
	hu_pack_real(r, &at->o.value);
	hu_pack_real(r, &at->o.exact);
	hu_pack_real(r, &at->o.constant);
	hu_pack_text(r, &at->o.operands);
	r->bad |= cause < 0 || cause >= HU_ORIGIN_CAUSES;
	at->o.cause = r->bad ? HU_ORIGIN_INPUT : (hu_origin_cause)cause;
}

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	place at[ORIGINS];

	(void)tables_of;
	places_init(at);
	hu_status st = u->call < 0 ? compute_inputs(a, t, at) : compute_call(a, t, u, at);
	for (int i = 0; i < ORIGINS && st == HU_OK; i++)
		pack(r, &at[i]);
	places_release(at);
	return st;
}

/* first: of the step whose units are being merged; said: on the first step that has one */
typedef struct tables {
	hu_tsv out;
	place first[ORIGINS];
	hu_str said;
	size_t steps, origins;
} tables;

/* Units come in their order; of tiles of one call the least tensor and element count, as of the whole call. */
static void
join_place(place *w, place *at, int call)
{
	int is_call = w->o.found && w->call == call, same = is_call && at->tensor == w->tensor;

	w->bad += same ? at->bad : 0;
	if (w->o.found && !(is_call && at->tensor < w->tensor) && !(same && at->o.element < w->o.element))
		return;
	at->bad = same ? w->bad : at->bad;
	at->call = call;
	place old = *w;
	*w = *at;
	*at = old; /* whoever merges releases it */
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	const hu_program *p = a->run->train;
	tables *w = tables_of;
	place at[ORIGINS];

	(void)s;
	places_init(at);
	for (int i = 0; i < ORIGINS; i++) {
		pack(r, &at[i]);
		r->bad |= at[i].o.found && (at[i].tensor < 0 || at[i].tensor >= p->nt);
		if (at[i].o.found && !r->bad)
			join_place(&w->first[i], &at[i], u->call);
	}
	places_release(at);
	return HU_OK;
}

static void
row(hu_tsv *t, const hu_program *p, size_t step, const place *at, int kind)
{
	const hu_call *c = at->call >= 0 ? &p->c[at->call] : NULL;
	const hu_info *info = &p->t[at->tensor];

	hu_tsv_int(t, (long long)step);
	hu_tsv_text(t, made[kind]);
	hu_analysis_call(t, c, "-", info->layer, info->name, hu_format_name(info->format));
	hu_tsv_int(t, (long long)at->o.element);
	hu_tsv_real(t, at->o.value);
	hu_tsv_text(t, hu_origin_name(at->o.cause));
	hu_tsv_measured(t, at->o.exact);
	hu_tsv_measured(t, at->o.constant == 0 ? NAN : at->o.constant);
	hu_tsv_text(t, at->o.operands.s);
	hu_tsv_int(t, (long long)at->bad);
}

static void
close_step(hu_analysis *a, void *tables_of, const hu_step_facts *s)
{
	const hu_program *p = a->run->train;
	tables *w = tables_of;
	place *first = &w->first[NONFINITE], *nan = &w->first[NAN_MADE];

	w->steps++;
	/* a call that made NaN of finite numbers is one origin; one that came later has a row of its own */
	if (first->o.found && nan->o.found && nan->call == first->call && nan->tensor == first->tensor)
		nan->o.found = 0;
	w->origins += first->o.found || nan->o.found;
	for (int i = 0; i < ORIGINS; i++) {
		const place *at = &w->first[i];
		if (!at->o.found)
			continue;
		row(&w->out, p, s->step, at, i);
		if (!w->said.len)
			hu_str_addf(&w->said, "step %zu: %s in %s: %g in %s[%zu], since %s", s->step,
				at->call >= 0 ? p->c[at->call].op->name : "what came",
				at->call >= 0 ? p->c[at->call].layer : p->t[at->tensor].layer, at->o.value,
				p->t[at->tensor].name, at->o.element, hu_origin_words(at->o.cause));
	}
	places_release(w->first);
	places_init(w->first);
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_analysis_begin(a, &w->out, "nonfinite", COLUMNS);
	hu_tsv_note(&w->out, "rows",
		"the first call of each step whose operands are finite and whose result is not, with the first such "
		"element of it (made: nonfinite), and the first that made NaN of numbers and infinities, where that is "
		"another (made: nan); an infinity that a mask or a fill was asked for counts as finite; operands: "
		"name=value, "
		"or the largest magnitude where an operand has no element for each of the result");
	hu_str_init(&w->said);
	places_init(w->first);
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	if (w->origins)
		hu_str_addf(&a->said, "%zu of %zu steps; %s", w->origins, w->steps, w->said.s);
	else
		hu_str_addf(&a->said, "no call made an infinity or NaN of finite numbers");
	return hu_analysis_write(a, &w->out, "nonfinite.tsv");
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_release(&w->out);
	places_release(w->first);
	hu_str_release(&w->said);
}

const hu_analyzer hu_analyzer_nonfinite = { "nonfinite",
	"the first call of each step that made an infinity or NaN of finite numbers, and why", sizeof(tables), begin,
	compute, merge, close_step, end, release, NULL };
