/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/effect/accept.h"

#include "lib/base/console/opt.h"
#include "lib/base/console/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* counts: the figure counts inputs, so that a limit may be a share of them; decides: it is of decisions. */
static const struct {
	const char *name;
	int counts, decides;
} figures[] = { { "flips", 1, 1 }, { "top", 1, 1 }, { "accuracy", 0, 1 }, { "rel_l2", 0, 0 }, { "sqnr", 0, 0 },
	{ "max_error", 0, 0 }, { "kl", 0, 1 }, { "nonfinite", 0, 0 } };

enum { FIGURES = sizeof figures / sizeof *figures };
enum { REL_L2 = 3, SQNR, MAX_ERROR, KL, NONFINITE }; /* places in figures */

static double
value(int figure, const hu_effect *r)
{
	const double all[FIGURES] = { (double)r->flips, (double)r->top, r->accuracy, r->rel_l2, r->sqnr_db,
		r->max_error, r->kl, (double)r->nonfinite };

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
	default: return (double)d->nonfinite;
	}
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
		worst = worst != worst || (a->least ? x < worst : x > worst) ? x : worst;
	}
	return worst != worst && a->output < 0 ? value(a->figure, r) : worst;
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
			"max_error, kl and nonfinite; a limit of flips and top may be a share: flips<=0.1%%",
			hu_shown(text));
	a->least = *sign == '>';
	snprintf(number, sizeof number, "%s", sign + 2);
	n = strlen(number);
	if (n && number[n - 1] == '%') {
		number[n - 1] = 0;
		a->share = figures[a->figure].counts;
		if (!a->share && strcmp(figures[a->figure].name, "accuracy"))
			return hu_fail(
				HU_EINVAL, "--accept '%s': only flips, top and accuracy are shares", hu_shown(text));
	}
	if (!hu_parse_real(number, &a->limit) || a->limit != a->limit)
		return hu_fail(HU_EINVAL, "--accept '%s': '%s' is no number", hu_shown(text), hu_shown(sign + 2));
	if (n && sign[2 + n - 1] == '%' && !a->share)
		a->limit /= 100;
	return HU_OK;
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
		if (!strcmp(figures[a[i].figure].name, "accuracy") && !labels)
			return hu_fail(
				HU_EINVAL, "--accept '%s': give the right classes by --labels", hu_shown(a[i].text));
	}
	return HU_OK;
}

int
hu_accept_keeps(const hu_accept *a, const hu_effect *r, double *is)
{
	*is = counted(a, r);
	if (a->share)
		*is = 100 * *is / (double)r->inputs;
	return a->least ? *is >= a->limit : *is <= a->limit;
}
