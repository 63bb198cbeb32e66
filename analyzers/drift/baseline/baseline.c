/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/baseline.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number from its first character to its last: no space, no hex, no word that strtod takes. */
static int
decimal(const char *s, double *x)
{
	char *end;

	*x = strtod(s, &end);
	return *s && s[strspn(s, "0123456789+-.eE")] == 0 && !*end;
}

int
hu_baseline_number(const char *text, double *x)
{
	if (decimal(text, x))
		return 1;
	*x = !strcmp(text, "inf") ? INFINITY : !strcmp(text, "-inf") ? -INFINITY : NAN;
	return *x == *x || !strcmp(text, "nan");
}

void
hu_baseline_add(hu_baseline *b, const char *key, const char *text, hu_baseline_side side, hu_format_id format)
{
	HU_GROW(b->q, b->n, b->cap);
	hu_baseline_quantity *q = &b->q[b->n++];
	q->key = hu_xstrdup(key);
	q->text = hu_xstrdup(text);
	q->number = hu_baseline_number(text, &q->value);
	q->side = side;
	q->format = format;
	q->ulps = q->tolerance = 0;
	q->call = -1;
}

void
hu_baseline_set(hu_baseline *b, const char *key, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	HU_GROW(b->env, b->nenv, b->envcap);
	b->env[b->nenv++] = (hu_setting){ hu_xstrdup(key), hu_xstrdup(text) };
}

static int
by_key(const void *a, const void *b)
{
	return strcmp(((const hu_baseline_quantity *)a)->key, ((const hu_baseline_quantity *)b)->key);
}

void
hu_baseline_sort(hu_baseline *b)
{
	if (b->n)
		qsort(b->q, b->n, sizeof *b->q, by_key);
}

const hu_baseline_quantity *
hu_baseline_find(const hu_baseline *b, const char *key)
{
	hu_baseline_quantity probe = { .key = (char *)(size_t)key };

	return b->n ? bsearch(&probe, b->q, b->n, sizeof *b->q, by_key) : NULL;
}

const char *
hu_baseline_env(const hu_baseline *b, const char *key)
{
	for (size_t i = 0; i < b->nenv; i++)
		if (!strcmp(b->env[i].key, key))
			return b->env[i].value;
	return NULL;
}

static void
drop(hu_baseline_quantity *q)
{
	free(q->key);
	free(q->text);
}

void
hu_baseline_release(hu_baseline *b)
{
	for (size_t i = 0; i < b->n; i++)
		drop(&b->q[i]);
	for (size_t i = 0; i < b->nenv; i++) {
		free(b->env[i].key);
		free(b->env[i].value);
	}
	free(b->q);
	free(b->env);
	memset(b, 0, sizeof *b);
}

void
hu_baseline_span(hu_baseline *b, const hu_baseline *more, size_t n)
{
	size_t first = b->n;

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < first; i++) {
			const hu_baseline_quantity *o = hu_baseline_find(&more[k], b->q[i].key);
			int numbers = o && b->q[i].number && o->number && isfinite(b->q[i].value) && isfinite(o->value);
			if (!o || (!numbers && strcmp(o->text, b->q[i].text)))
				b->q[i].side = HU_SIDE_ANY;
		}
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < more[k].n; i++) {
			const hu_baseline_quantity *q = &more[k].q[i];
			if (hu_baseline_find(b, q->key))
				continue;
			hu_baseline_add(b, q->key, q->text, HU_SIDE_ANY, q->format);
			hu_baseline_sort(b);
		}
}
