/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/accept.h"

#include "lib/base/console/opt.h"
#include "lib/base/console/show.h"

#include <stdio.h>
#include <string.h>

/* counts: the figure counts inputs, so that a limit may be a share of them; decides: it is of decisions. */
static const struct {
	const char *name;
	int counts, decides;
} figures[] = { { "flips", 1, 1 }, { "top", 1, 1 }, { "accuracy", 0, 1 }, { "rel_l2", 0, 0 }, { "sqnr", 0, 0 },
	{ "max_error", 0, 0 }, { "kl", 0, 1 }, { "nonfinite", 0, 0 } };

enum { FIGURES = sizeof figures / sizeof *figures };

static double
value(int figure, const hu_effect *r)
{
	const double all[FIGURES] = { (double)r->flips, (double)r->top, r->accuracy, r->rel_l2, r->sqnr_db,
		r->max_error, r->kl, (double)r->nonfinite };

	return (figure < 2 && r->low != r->low) ? r->low : all[figure];
}

hu_status
hu_accept_parse(hu_accept *a, const char *text)
{
	char number[64];
	const char *sign = strpbrk(text, "<>");
	size_t n = sign ? (size_t)(sign - text) : 0;

	*a = (hu_accept){ .text = text, .figure = -1 };
	for (int i = 0; i < FIGURES; i++)
		if ((strlen(figures[i].name) == n && !strncmp(figures[i].name, text, n)) ||
			(!strcmp(figures[i].name, "sqnr") && n == 7 && !strncmp(text, "sqnr_db", n)))
			a->figure = i;
	if (!sign || sign[1] != '=' || a->figure < 0)
		return hu_fail(HU_EINVAL,
			"--accept '%s': a rule is FIGURE<=LIMIT or FIGURE>=LIMIT, of flips, top, accuracy, rel_l2, "
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

hu_status
hu_accept_known(const hu_accept *a, size_t n, const hu_deciding *d, int labels)
{
	for (size_t i = 0; i < n; i++) {
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
	*is = value(a->figure, r);
	if (a->share)
		*is = 100 * *is / (double)r->inputs;
	return a->least ? *is >= a->limit : *is <= a->limit;
}
