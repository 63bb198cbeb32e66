/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/inspect/inspect_rules.h"

#include "analyzers/drift/outcome/outcome.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static hu_status
parse(hu_inspect_rule *r, const char *text, const char *option)
{
	const char *sign = strpbrk(text, "<>");
	char *name = hu_xprintf("%.*s", sign ? (int)(sign - text) : 0, text);

	*r = (hu_inspect_rule){ .text = text, .column = hu_inspect_column(strcmp(name, "sqnr") ? name : "sqnr_db") };
	free(name);
	if (!sign || r->column < 0 || !hu_inspect_column_is_number(r->column))
		return hu_fail(HU_EINVAL,
			"--%s '%s': a rule is COLUMN<LIMIT, with <, <=, > or >=, and a column of numbers, such as "
			"sqnr<30, "
			"rel_l2>0.01, overflow>0 or zeroed>1%%",
			option, hu_shown(text));
	if (!hu_threshold_read(&r->limit, sign))
		return hu_fail(HU_EINVAL, "--%s '%s': '%s' is no number", option, hu_shown(text),
			hu_shown(hu_threshold_number(sign)));
	return r->limit.percent && !hu_inspect_column_counts(r->column)
		       ? hu_fail(HU_EINVAL, "--%s '%s': only columns that count elements have a share in %%", option,
				 hu_shown(text))
		       : HU_OK;
}

hu_status
hu_inspect_rules_parse(hu_inspect_rules *s, const hu_args *a, const char *option)
{
	size_t given = (size_t)hu_args_given(a, option);
	hu_status st = HU_OK;

	s->rule = hu_xcalloc(given + 1, sizeof *s->rule);
	for (s->n = 0; s->n < given && st == HU_OK; s->n++)
		st = parse(&s->rule[s->n], hu_args_nth(a, option, (int)s->n), option);
	return st;
}

void
hu_inspect_rules_release(hu_inspect_rules *s)
{
	free(s->rule);
	memset(s, 0, sizeof *s);
}

int
hu_inspect_rule_holds(const hu_inspect_rule *rule, const hu_inspect_row *r, double *is)
{
	*is = hu_inspect_value(r, rule->column);
	if (rule->limit.percent)
		*is = 100 * *is / (double)r->e.flush.count.elements;
	if (isnan(*is))
		return hu_inspect_column_is_error(rule->column) && r->e.flush.count.elements && !r->e.finite;
	return hu_threshold_keeps(rule->limit, *is);
}

size_t
hu_inspect_rules_print(const hu_inspect_rules *s, const hu_inspect_row *row, size_t n, const char *of, int tap)
{
	hu_outcomes v;
	size_t failed = 0;
	double is;

	hu_outcomes_init(&v, "halfulp inspect", of);
	for (size_t k = 0; k < n; k++) {
		int broken = 0;
		for (size_t i = 0; i < s->n; i++) {
			int holds = hu_inspect_rule_holds(&s->rule[i], &row[k], &is);
			const char *column = hu_inspect_column_name(s->rule[i].column),
				   *unit = s->rule[i].limit.percent ? "%" : "";
			char *name = hu_xprintf("%s in %s", row[k].a->name, hu_target_name(row[k].to));
			char *said = isnan(is) && holds ? hu_xprintf("no element is finite before and after the cast")
				     : isnan(is)        ? hu_xprintf("%s does not apply", column)
							: hu_xprintf("%s is %.4g%s", column, is, unit);
			if (holds && !tap)
				printf("failed: %s: %s (%s)\n", name, said, s->rule[i].text);
			free(name);
			name = hu_xprintf(
				"%s in %s: not %s", row[k].a->name, hu_target_name(row[k].to), s->rule[i].text);
			hu_outcomes_add(&v, name, !holds, said, holds ? hu_xprintf("%s: %s", row[k].file, said) : NULL);
			free(name);
			broken |= holds;
		}
		failed += (size_t)broken;
	}
	v.summary = hu_xprintf("%zu of %zu rows satisfy a rule\n", failed, n);
	if (tap)
		hu_outcomes_tap(stdout, &v);
	hu_outcomes_release(&v);
	return failed;
}
