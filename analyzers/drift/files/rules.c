/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/rules.h"

#include "lib/base/console/threshold.h"
#include "lib/base/console/opt.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[HU_METRICS] = { "differ", "ulps", "abs", "rel", "l2", "cosine", "sqnr", "nonfinite" };

/* What is being read, and how to say what is wrong with it. */
typedef struct reader {
	const char *where, *text;
	hu_status st;
} reader;

const char *
hu_metric_name(hu_metric m)
{
	return names[m];
}

static int
wants_more(hu_metric m)
{
	return m == HU_METRIC_COSINE || m == HU_METRIC_SQNR;
}

static hu_status __attribute__((format(printf, 2, 3))) wrong(const reader *r, const char *fmt, ...)
{
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	return hu_fail(r->st, "%s: rule '%.200s': %s", r->where, hu_shown(r->text), what);
}

/* S without blanks at either end, in place. */
static char *
trim(char *s)
{
	s += strspn(s, " \t\r");
	for (size_t n = strlen(s); n && strchr(" \t\r", s[n - 1]);)
		s[--n] = 0;
	return s;
}

static hu_status
read_metric(const reader *r, hu_bound_on *b, char *name)
{
	static const char *const known[] = { "differ", "ulps", "abs", "rel", "l2", "cosine", "sqnr", "nonfinite",
		"exact", "optional", "ignore" };
	char *open = strchr(name = trim(name), '('), *close = open ? strchr(open, ')') : NULL;
	hu_format f;

	b->format = HU_NO_FORMAT;
	if (open && (!close || close[1]))
		return wrong(r, "a format in parentheses is needed, as in ulps(fp16) <= 2");
	if (open) {
		*open = *close = 0;
		char *format = trim(open + 1);
		if (hu_format_find(format, &b->format) != HU_OK)
			return wrong(r, "'%.40s' is no format; halfulp formats lists them", hu_shown(format));
		f = hu_format_of(b->format);
		if (f.emin < -1022)
			return wrong(r, "ulps of %.40s, whose smallest numbers no normal double holds", format);
	}
	name = trim(name);
	for (b->metric = 0; b->metric < HU_METRICS; b->metric++)
		if (!strcmp(names[b->metric], name))
			break;
	if (b->metric == HU_METRICS) {
		const char *near = hu_nearest(name, known, sizeof known / sizeof *known);
		return wrong(r,
			"'%.40s' is no measure%s%s; there are differ, ulps(FORMAT), abs, rel, l2, cosine, sqnr and "
			"nonfinite, and the words exact, optional, ignore",
			hu_shown(name), near ? ", did you mean " : "", near ? near : "");
	}
	if (open && b->metric != HU_METRIC_ULPS)
		return wrong(r, "%s has no format; ulps(FORMAT) has", name);
	return HU_OK;
}

static hu_status
read_bound(const reader *r, hu_rule *rule, char *word, char *sign)
{
	hu_bound_on b = { 0 };
	int more = *sign == '>';
	char *number = trim(sign + 1 + (sign[1] == '='));

	if (sign[1] != '=')
		return wrong(r, "write %c=, which includes the number itself", *sign);
	*sign = 0;
	HU_TRY(read_metric(r, &b, word));
	if (more != wants_more(b.metric))
		return wrong(r, "%s is the better the %s it is: %s %s= is a bound on it", names[b.metric],
			more ? "smaller" : "larger", names[b.metric], more ? "<" : ">");
	if (!hu_parse_real(number, &b.limit) || !isfinite(b.limit))
		return wrong(r, "'%.40s' is no finite number", hu_shown(number));
	if (b.metric == HU_METRIC_COSINE && !(b.limit >= -1 && b.limit <= 1))
		return wrong(r, "a cosine lies between -1 and 1");
	if (!wants_more(b.metric) && b.limit < 0)
		return wrong(r, "%s is never below 0", names[b.metric]);
	if (rule->bounds == HU_RULE_BOUNDS)
		return wrong(r, "more than %d bounds", HU_RULE_BOUNDS);
	int formats = b.metric == HU_METRIC_ULPS;
	for (int i = 0; i < rule->bounds; i++)
		formats += rule->bound[i].metric == HU_METRIC_ULPS;
	if (formats > HU_PAIR_FORMATS)
		return wrong(r, "ulps of more than %d formats", HU_PAIR_FORMATS);
	rule->bound[rule->bounds++] = b;
	return HU_OK;
}

static hu_status
read_word(const reader *r, hu_rule *rule, char *word)
{
	char *sign = strpbrk(word, "<>");

	if (sign)
		return read_bound(r, rule, word, sign);
	if (!strcmp(word, "exact"))
		rule->exact = 1;
	else if (!strcmp(word, "optional"))
		rule->optional = 1;
	else if (!strcmp(word, "ignore"))
		rule->ignore = 1;
	else if (!*word)
		return wrong(r, "it has no condition behind a colon or a comma");
	else
		return wrong(r, "'%.40s' is neither a bound, as rel <= 1e-5 is, nor exact, optional or ignore",
			hu_shown(word));
	return HU_OK;
}

/* Names may have colons in them, conditions have none. */
static hu_status
read_rule(const reader *r, hu_rule *rule, char *text)
{
	char *colon = strrchr(text, ':'), *word;
	hu_status st = HU_OK;

	if (!colon)
		return wrong(r, "it needs a colon between names and conditions, as in 'grad.*: ulps(fp16) <= 2'");
	*colon = 0;
	char *pattern = trim(text), *rest = trim(colon + 1);
	if (!*pattern)
		return wrong(r, "there is no name before its colon; * stands for all");
	rule->pattern = hu_xstrdup(pattern);
	while (st == HU_OK && (word = strsep(&rest, ",")))
		st = read_word(r, rule, trim(word));
	if (st == HU_OK && rule->ignore && (rule->bounds || rule->exact || rule->optional))
		return wrong(r, "what is ignored has no other condition");
	if (st == HU_OK && rule->exact && rule->bounds)
		return wrong(r, "what is exact has no other bound");
	return st;
}

hu_status
hu_rules_add(hu_rules *r, const char *where, const char *text, hu_status st)
{
	reader from = { where, text, st };
	char *copy = hu_xstrdup(text);
	hu_status got;

	HU_GROW(r->rule, r->n, r->cap);
	hu_rule *rule = &r->rule[r->n++];
	memset(rule, 0, sizeof *rule);
	rule->own = 1;
	rule->text = hu_xstrdup(trim(copy));
	got = read_rule(&from, rule, copy);
	free(copy);
	if (got != HU_OK) { /* no half of a rule stays */
		free(rule->pattern);
		free(rule->text);
		r->n--;
	}
	return got;
}

hu_status
hu_rules_parse(hu_rules *r, const char *name, const char *data)
{
	hu_status st = HU_OK;
	size_t line = 0;

	while (*data && st == HU_OK) {
		size_t n = strcspn(data, "\n");
		char *text = hu_xprintf("%.*s", (int)n, data), *where = hu_xprintf("%s, line %zu", name, ++line);
		text[strcspn(text, "#")] = 0;
		if (*trim(text))
			st = hu_rules_add(r, where, text, HU_EFILE);
		free(text);
		free(where);
		data += n + (data[n] == '\n');
	}
	return st;
}

hu_status
hu_rules_read(hu_rules *r, const char *path)
{
	char *data;
	size_t n;

	HU_TRY(hu_file_read(path, &data, &n));
	hu_status st = strlen(data) == n
			       ? hu_rules_parse(r, path, data)
			       : hu_fail(HU_EFILE, "%s: byte %zu is a zero; rules are text", path, strlen(data));
	if (st == HU_OK && !r->n)
		st = hu_fail(HU_EFILE, "%s: there is no rule in it", path);
	free(data);
	return st;
}

void
hu_rules_release(hu_rules *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->rule[i].pattern);
		free(r->rule[i].text);
	}
	free(r->rule);
	memset(r, 0, sizeof *r);
}

hu_rule *
hu_rules_match(hu_rules *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (hu_match(r->rule[i].pattern, name)) {
			r->rule[i].used++;
			return &r->rule[i];
		}
	return NULL;
}

hu_rule
hu_rule_default(const hu_item *old, const hu_item *new)
{
	hu_rule rule = { .pattern = "*", .text = "default" };
	hu_format f = hu_format_of(old->format), g = hu_format_of(new->format);

	if (old->format == HU_NO_FORMAT || new->format == HU_NO_FORMAT) {
		rule.exact = 1;
		return rule;
	}
	if (g.p < f.p)
		f = g;
	if (old->kind == HU_ITEM_SERIES)
		f = hu_format_of(HU_FP32);
	double by = (f.bits > 16 ? 16 : 1) * hu_pow2(1 - f.p);
	rule.bound[rule.bounds++] = (hu_bound_on){ HU_METRIC_L2, HU_NO_FORMAT, by };
	rule.bound[rule.bounds++] = (hu_bound_on){ HU_METRIC_REL, HU_NO_FORMAT, 4 * by };
	return rule;
}

double
hu_metric_of(const hu_measures *m, const hu_bound_on *b, int k)
{
	switch (b->metric) {
	case HU_METRIC_DIFFER: return (double)m->differ;
	case HU_METRIC_ULPS: return m->ulps[k];
	case HU_METRIC_ABS: return m->abs;
	case HU_METRIC_REL: return m->rel;
	case HU_METRIC_L2: return m->l2;
	case HU_METRIC_COSINE: return m->cosine;
	case HU_METRIC_SQNR: return m->sqnr;
	case HU_METRIC_NONFINITE: return (double)m->nonfinite;
	case HU_METRICS: break;
	}
	HU_ASSERT(!"a metric has its measure here");
	return NAN;
}

int
hu_bound_holds(const hu_bound_on *b, double value)
{
	return hu_threshold_keeps(
		wants_more(b->metric) ? hu_threshold_least(b->limit) : hu_threshold_most(b->limit), value);
}
