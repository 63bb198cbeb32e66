/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/effect/accept.h"

#include "analyzers/validate/effect/confidence.h"

#include "lib/base/table/fields.h"
#include "lib/base/console/opt.h"
#include "lib/base/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* counts: the figure counts inputs, so that a limit may be a share of them; decides: it is of decisions. */
static const struct {
	const char *name;
	int counts, decides;
} figures[] = { { "flips", 1, 1 }, { "top", 1, 1 }, { "accuracy", 0, 1 }, { "rel_l2", 0, 0 }, { "sqnr", 0, 0 },
	{ "max_error", 0, 0 }, { "kl", 0, 1 }, { "nonfinite", 0, 0 }, { "perplexity", 0, 1 } };

enum { FIGURES = sizeof figures / sizeof *figures };
enum { REL_L2 = 3, SQNR, MAX_ERROR, KL, NONFINITE }; /* places in figures */

static double
value(int figure, const hu_effect *r)
{
	const double all[FIGURES] = { (double)r->flips, (double)r->top, r->accuracy, r->rel_l2, r->sqnr_db,
		r->max_error, r->kl, (double)r->nonfinite, r->perplexity };

	return (figure < 2 && r->low != r->low) ? r->low : all[figure];
}

/* The figure of one output, which is a distance or nonfinite. */
static double
value_of(int figure, const hu_distance *d)
{
	switch (figure) {
	case REL_L2: return d->whole ? NAN : d->rel_l2;
	case SQNR: return d->whole ? NAN : d->sqnr_db;
	case MAX_ERROR: return d->whole ? NAN : d->max_error;
	case NONFINITE: return (double)d->nonfinite;
	}
	HU_ASSERT(!"a rule of one output counts a distance or what is not finite");
}

/* The figure that a rule counts: without a name that of the output which is worst by it. */
static double
counted(const hu_accept *a, const hu_effect *r)
{
	double worst = NAN;

	if (figures[a->figure].decides || a->figure == NONFINITE)
		return a->output < 0 || figures[a->figure].decides ? value(a->figure, r)
								   : (double)r->out[a->output].nonfinite;
	for (size_t k = 0; k < r->nout; k++) {
		double x = value_of(a->figure, &r->out[k]);
		if ((a->output >= 0 && (size_t)a->output != k) || x != x)
			continue;
		worst = worst != worst || (a->limit.least ? x < worst : x > worst) ? x : worst;
	}
	return worst != worst && a->output < 0 ? value(a->figure, r) : worst;
}

/* Cuts the confidence behind " at " off NUMBER, if there is one. */
static hu_status
read_confidence(hu_accept *a, char *number)
{
	char *at = strstr(number, "at"), *end;

	if (!at)
		return HU_OK;
	for (end = at; end > number && end[-1] == ' '; end--)
		;
	*end = 0;
	at += 2 + strspn(at + 2, " ");
	size_t n = strlen(at);
	int percent = n && at[n - 1] == '%';
	if (percent)
		at[n - 1] = 0;
	if (!percent || !hu_parse_real(at, &a->confidence) || !(a->confidence >= 50 && a->confidence < 100))
		return hu_fail(HU_EINVAL,
			"--accept '%s': a confidence is a percentage from 50 to below 100, as in flips<=1%% at 95%%",
			hu_shown(a->text));
	a->confidence /= 100;
	return HU_OK;
}

/* Refuses a confidence where the rule is on no share, or on one that no sample shows. */
static hu_status
may_be_confident(const hu_accept *a)
{
	double limit = a->share ? a->limit.value / 100 : a->limit.value;

	if (!a->confidence)
		return HU_OK;
	if (!a->share && strcmp(figures[a->figure].name, "accuracy"))
		return hu_fail(HU_EINVAL,
			"--accept '%s': only a share has a confidence: flips and top with a limit in percent, and "
			"accuracy",
			hu_shown(a->text));
	if (!(a->limit.least ? limit < 1 : limit > 0))
		return hu_fail(HU_EINVAL,
			"--accept '%s': no number of inputs shows at a confidence below 100%% that there is no "
			"exception; leave the confidence out, or allow some",
			hu_shown(a->text));
	return HU_OK;
}

hu_status
hu_accept_parse(hu_accept *a, const char *text)
{
	char number[64];
	const char *sign = strpbrk(text, "<>");
	size_t n = sign ? (size_t)(sign - text) : 0, from = n;

	*a = (hu_accept){ .text = text, .figure = -1, .output = -1 };
	while (from > 0 && text[from - 1] != ':')
		from--;
	a->name = from > 1 ? text : NULL; /* outputs' names may have a ':' */
	a->length = from ? from - 1 : 0;
	const char *figure = from > 1 ? text + from : text;
	n -= (size_t)(figure - text);
	for (int i = 0; i < FIGURES; i++)
		if ((strlen(figures[i].name) == n && !strncmp(figures[i].name, figure, n)) ||
			(!strcmp(figures[i].name, "sqnr") && n == 7 && !strncmp(figure, "sqnr_db", n)))
			a->figure = i;
	if (!sign || sign[1] != '=' || a->figure < 0)
		return hu_fail(HU_EINVAL,
			"--accept '%s': a rule is FIGURE<=LIMIT or FIGURE>=LIMIT, perhaps behind OUTPUT:, of flips, "
			"top, accuracy, rel_l2, "
			"sqnr, "
			"max_error, kl, nonfinite and perplexity; a limit of flips and top may be a share: "
			"flips<=0.1%%",
			hu_shown(text));
	snprintf(number, sizeof number, "%s", sign);
	HU_TRY(read_confidence(a, number));
	int good = hu_threshold_read(&a->limit, number);
	if (a->limit.percent) {
		a->share = figures[a->figure].counts;
		if (!a->share && strcmp(figures[a->figure].name, "accuracy"))
			return hu_fail(
				HU_EINVAL, "--accept '%s': only flips, top and accuracy are shares", hu_shown(text));
	}
	if (!good)
		return hu_fail(HU_EINVAL, "--accept '%s': '%s' is no number", hu_shown(text),
			hu_shown(hu_threshold_number(sign)));
	if (a->limit.percent && !a->share)
		a->limit.value /= 100;
	return may_be_confident(a);
}

static hu_status
find_output(hu_accept *a, const hu_imported *m)
{
	for (size_t k = 0; k < m->nout && a->name; k++)
		if (strlen(m->out[k].name) == a->length && !strncmp(m->out[k].name, a->name, a->length))
			a->output = (int)k;
	return !a->name || a->output >= 0 ? HU_OK
					  : hu_fail(HU_EINVAL, "--accept '%s': the model has no output '%.*s'",
						    hu_shown(a->text), (int)a->length, a->name);
}

hu_status
hu_accept_known(hu_accept *a, size_t n, const hu_deciding *d, const hu_imported *m, int labels)
{
	for (size_t i = 0; i < n; i++) {
		HU_TRY(find_output(&a[i], m));
		if (figures[a[i].figure].decides && a[i].output >= 0 && (size_t)a[i].output != d->output)
			return hu_fail(HU_EINVAL,
				"--accept '%s': decisions are counted of output '%s'; --output names another",
				hu_shown(a[i].text), hu_shown(m->out[d->output].name));
		if (figures[a[i].figure].decides && d->classes < 2)
			return hu_fail(HU_EINVAL,
				"--accept '%s': the output decides nothing, as it has no two classes; --output names "
				"another",
				hu_shown(a[i].text));
		int wants_labels = !strcmp(figures[a[i].figure].name, "accuracy") ||
				   !strcmp(figures[a[i].figure].name, "perplexity");
		if (!strcmp(figures[a[i].figure].name, "perplexity") && d->kind != HU_DECISION_CLASS)
			return hu_fail(HU_EINVAL, "--accept '%s': only classes along an axis have a perplexity",
				hu_shown(a[i].text));
		if (wants_labels && !labels)
			return hu_fail(
				HU_EINVAL, "--accept '%s': give the right classes by --labels", hu_shown(a[i].text));
		if (!strcmp(figures[a[i].figure].name, "accuracy") && a[i].confidence && d->rows > 1)
			return hu_fail(HU_EINVAL,
				"--accept '%s': an input has %zu decisions, which are not independent; give a "
				"confidence "
				"to flips, or leave it out",
				hu_shown(a[i].text), d->rows);
	}
	return HU_OK;
}

int
hu_accept_keeps_here(const hu_accept *a, const hu_effect *r, double *is)
{
	*is = counted(a, r);
	if (a->share)
		*is = 100 * *is / (double)r->inputs;
	return hu_threshold_keeps(a->limit, *is);
}

/* The share that the rule allows of what speaks against it. */
static double
allowed(const hu_accept *a)
{
	double limit = a->share ? a->limit.value / 100 : a->limit.value;

	return a->limit.least ? 1 - limit : limit;
}

size_t
hu_accept_fewest(const hu_accept *a)
{
	return a->confidence ? hu_confidence_inputs(0, allowed(a), a->confidence) : 0;
}

int
hu_accept_show(hu_accept_shown *s, const hu_accept *a, const hu_effect *r)
{
	size_t counts[] = { r->flips, r->top, r->right };
	int accuracy = !strcmp(figures[a->figure].name, "accuracy");

	if ((!a->share && !accuracy) || r->low != r->low || (accuracy && (r->accuracy != r->accuracy || !r->alone)))
		return 0;
	s->n = accuracy ? r->judged : r->inputs;
	s->count = a->limit.least ? s->n - counts[a->figure] : counts[a->figure];
	s->limit = allowed(a);
	s->c = a->confidence ? a->confidence : 0.95;
	s->most = hu_confidence_most(s->count, s->n, s->c);
	s->inputs = hu_confidence_inputs(s->count, s->limit, s->c);
	return 1;
}

void
hu_accept_figure(char text[HU_ACCEPT_TEXT], const hu_accept *a, double is)
{
	int of_one = a->limit.percent && !a->share;

	snprintf(text, HU_ACCEPT_TEXT, a->limit.percent ? "%.4g %%" : "%.4g", of_one ? 100 * is : is);
}

int
hu_accept_keeps(const hu_accept *a, const hu_effect *r, double *is)
{
	hu_accept_shown s;
	int keeps = hu_accept_keeps_here(a, r, is);

	if (keeps && a->confidence)
		keeps = hu_accept_show(&s, a, r) && s.most <= s.limit;
	return keeps;
}

int
hu_accept_tell(hu_str *b, const hu_accept *a, const hu_effect *r)
{
	static const struct {
		const char *one, *many;
	} against[] = { { "a flip", "flips" }, { "a class that left the first ones", "of them" },
		{ "a wrong answer", "wrong answers" } };
	hu_accept_shown s;
	double is;

	if (!hu_accept_show(&s, a, r))
		return 0;
	int wrong = !strcmp(figures[a->figure].name, "accuracy");
	if (a->limit.least)
		hu_str_addf(b, "%zu of %zu: at least %.3g %% at %.6g %%", s.n - s.count, s.n, 100 * (1 - s.most),
			100 * s.c);
	else
		hu_str_addf(b, "%zu of %zu: at most %.3g %% at %.6g %%", s.count, s.n, 100 * s.most, 100 * s.c);
	if (a->limit.least != wrong || s.most <= s.limit || !hu_accept_keeps_here(a, r, &is) || !s.inputs)
		return 1;
	if (s.count)
		hu_str_addf(b, "; %zu inputs with no more than %zu %s are needed", s.inputs, s.count,
			against[a->figure].many);
	else
		hu_str_addf(b, "; %zu inputs without %s are needed", s.inputs, against[a->figure].one);
	return 1;
}

json_t *
hu_accept_json(const hu_accept *a, const hu_effect *r)
{
	hu_accept_shown s;
	hu_str b;
	double is;
	int shows = hu_accept_show(&s, a, r), keeps = hu_accept_keeps(a, r, &is);
	json_t *o = json_pack("{s:s s:o s:b}", "rule", hu_shown(a->text), "is", hu_fields_measured(is), "keeps", keeps);

	hu_str_init(&b);
	(void)hu_accept_tell(&b, a, r);
	json_object_set_new(o, "confidence", a->confidence ? json_real(a->confidence) : json_null());
	json_object_set_new(o, "count", shows ? json_integer((json_int_t)s.count) : json_null());
	json_object_set_new(o, "of", shows ? json_integer((json_int_t)s.n) : json_null());
	json_object_set_new(o, "share_most", shows ? json_real(s.most) : json_null());
	json_object_set_new(o, "inputs_needed", shows && s.inputs ? json_integer((json_int_t)s.inputs) : json_null());
	json_object_set_new(o, "shown", shows ? json_string(b.s) : json_null());
	hu_str_release(&b);
	return o;
}
