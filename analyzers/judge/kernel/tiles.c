/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel/tiles.h"

#include "analyzers/judge/kernel/judge_args.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *kernel, *needs, *axes;
} rows[] = {
#define SAMPLE(kernel, needs, axes) { #kernel, needs, axes },
#include "analyzers/judge/kernel/samples.def"
#undef SAMPLE
};

static hu_judge_array *
array(hu_kernel_job *j, const char *name, int *is_result)
{
	for (int i = 0; i < j->ngot; i++)
		if (!strcmp(j->got[i].name, name)) {
			*is_result = 1;
			return &j->got[i];
		}
	*is_result = 0;
	for (int i = 0; i < j->nin; i++)
		if (!strcmp(j->in[i].name, name))
			return &j->in[i];
	return NULL;
}

/* Reads one group of a row; it has length 0 where this axis of these arrays cannot be cut. */
static hu_status
read_group(hu_kernel_job *j, const char *text, size_t length, hu_tiles_group *g)
{
	char *copy = hu_xstrdup(text), *save = NULL;
	int results = 0, is_result;
	hu_status st = HU_OK;

	copy[length] = 0;
	*g = (hu_tiles_group){ .step = 1 };
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *colon = strchr(w, ':'), *hat;
		if (!strcmp(w, "@first")) {
			g->queries = 1;
			continue;
		}
		*colon = 0;
		hu_judge_array *a = array(j, w, &is_result);
		int back = atoi(colon + 1);
		if ((hat = strchr(colon + 1, '^'))) {
			const char *fact = hu_facts_text(&j->facts, hat + 1);
			back = fact && *fact && strcmp(fact, "0") ? -3 - back : back;
		}
		if (!a || a->a.rank + back < 0)
			continue;
		results += is_result;
		g->member[g->n].a = a;
		g->member[g->n++].axis = a->a.rank + back;
		if (is_result && a == &j->got[0]) {
			g->length = a->a.shape[a->a.rank + back];
			g->grows_first = back >= -2;
		}
	}
	free(copy);
	if (results < j->ngot)
		g->length = 0;
	for (int i = 0; i < g->n && g->length; i++) {
		size_t d = g->member[i].a->a.shape[g->member[i].axis];
		g->member[i].by = d == 1 ? 0 : d && g->length % d == 0 ? g->length / d : 0;
		g->is_shared |= g->member[i].by > 1;
		if (d != 1 && !g->member[i].by)
			st = hu_fail(HU_EFILE, "--sample: axis %d of '%s' has %zu elements, where the result has %zu",
				g->member[i].axis, g->member[i].a->name, d, g->length);
	}
	return st;
}

static hu_status
needs(void *of, const char *word)
{
	const hu_kernel_job *j = of;
	char key[32];
	size_t n = strcspn(word, "=");

	snprintf(key, sizeof key, "%.*s", (int)n, word);
	const char *v = hu_facts_text(&j->facts, key);
	if (v && !strcmp(v, word + n + 1))
		return HU_OK;
	return hu_fail(HU_EUNABLE, "--sample: tiles of %s can only be computed alone with %s", j->name, word);
}

/* A number of queries that may be declared. */
static hu_status
count(const hu_kernel_job *j, const char *key, size_t *n)
{
	const char *v = hu_facts_text(&j->facts, key);

	return v && *v ? hu_facts_count(&j->facts, key, n) : HU_OK;
}

hu_status
hu_tiles_open(hu_tiles *t, hu_kernel_job *j)
{
	const char *axes = NULL, *first = hu_facts_text(&j->facts, "first"), *of = hu_facts_text(&j->facts, "of");

	*t = (hu_tiles){ .j = j };
	if (first && of) {
		t->declared[0] = hu_xstrdup(first);
		t->declared[1] = hu_xstrdup(of);
	}
	HU_TRY(count(j, "first", &t->first));
	HU_TRY(count(j, "of", &t->of));
	for (size_t i = 0; i < sizeof rows / sizeof *rows && j->composite; i++)
		if (!strcmp(rows[i].kernel, j->composite->name)) {
			axes = rows[i].axes;
			HU_TRY(hu_judge_words(rows[i].needs, needs, j));
		}
	for (const char *at = axes; at && *at && t->ng < HU_TILES_GROUPS;) {
		size_t n = strcspn(at, ";");
		HU_TRY(read_group(j, at, n, &t->g[t->ng]));
		t->ng += t->g[t->ng].length > 1;
		at += n + (at[n] == ';');
	}
	if (t->ng)
		return HU_OK;
	return hu_fail(HU_EUNABLE,
		"--sample: no tile of these results of %s can be computed alone: judge all of them, without --sample",
		j->name);
}

void
hu_tiles_close(hu_tiles *t)
{
	hu_kernel_job *j = t->j;

	for (int i = 0; i < j->nin + j->ngot; i++)
		(i < j->nin ? &j->in[i] : &j->got[i - j->nin])->is_cut = 0;
	if (t->declared[0]) { /* those of the last tile were not declared */
		hu_facts_set(&j->facts, "first", t->declared[0]);
		hu_facts_set(&j->facts, "of", t->declared[1]);
	}
	free(t->declared[0]);
	free(t->declared[1]);
}

size_t
hu_tiles_elements(const hu_tiles *t)
{
	size_t n = t->j->got[0].a.count;

	for (int k = 0; k < t->ng; k++)
		n = n / t->g[k].length * t->g[k].step;
	return n;
}

/* The axis along which tiles grow next, or NULL. */
static hu_tiles_group *
next(hu_tiles *t)
{
	hu_tiles_group *best = NULL;

	for (int k = 0; k < t->ng; k++) {
		hu_tiles_group *g = &t->g[k];
		if (g->is_shared || g->step == g->length)
			continue;
		if (!best || g->grows_first > best->grows_first ||
			(g->grows_first == best->grows_first && g->step < best->step))
			best = g;
	}
	return best;
}

static void
enlarge(hu_tiles_group *g)
{
	g->step = 4 * g->step <= g->length ? 2 * g->step : g->length;
}

void
hu_tiles_grow_to_elements(hu_tiles *t, size_t elements)
{
	hu_tiles_group *g;

	while (hu_tiles_elements(t) < elements && (g = next(t)))
		enlarge(g);
}

/* An operand is an array of balls and, in products, two to four of doubles; a result has three arrays of balls beside
   sums of five. */
double
hu_tiles_bytes(const hu_tiles *t, int whole)
{
	const hu_kernel_job *j = t->j;
	double sum = 0;

	for (int i = 0; i < j->nin + j->ngot; i++) {
		const hu_judge_array *a = i < j->nin ? &j->in[i] : &j->got[i - j->nin];
		double n = (double)a->a.count;
		for (int k = 0; k < t->ng && !whole; k++)
			for (int m = 0; m < t->g[k].n; m++)
				if (t->g[k].member[m].a == a && t->g[k].member[m].by)
					n *= (double)t->g[k].step / (double)t->g[k].length;
		sum += n * (i < j->nin ? 72 : 200);
	}
	return sum;
}

void
hu_tiles_grow_to_bytes(hu_tiles *t, double bytes)
{
	hu_tiles_group *g;

	while ((g = next(t))) {
		size_t before = g->step;
		enlarge(g);
		if (hu_tiles_bytes(t, 0) <= bytes)
			continue;
		g->step = before;
		break;
	}
}

size_t
hu_tiles_count(hu_tiles *t)
{
	size_t n = 1;

	for (int k = 0; k < t->ng; k++) {
		t->g[k].blocks = (t->g[k].length + (t->whole ? t->g[k].step - 1 : 0)) / t->g[k].step;
		n *= t->g[k].blocks;
	}
	return n;
}

void
hu_tiles_cut(hu_tiles *t, size_t number)
{
	hu_kernel_job *j = t->j;

	for (int i = 0; i < j->nin + j->ngot; i++) {
		hu_judge_array *a = i < j->nin ? &j->in[i] : &j->got[i - j->nin];
		a->is_cut = 1;
		for (int d = 0; d < a->a.rank; d++) {
			a->first[d] = 0;
			a->count[d] = a->a.shape[d];
		}
	}
	for (int k = 0; k < t->ng; k++) {
		hu_tiles_group *g = &t->g[k];
		size_t b = number % g->blocks, first = b * g->step, n = g->step;
		number /= g->blocks;
		if (b + 1 == g->blocks && t->whole)
			n = g->length - first;
		else if (b + 1 == g->blocks)
			first = g->length - g->step;
		for (int i = 0; i < g->n; i++) {
			hu_judge_array *a = g->member[i].a;
			if (!g->member[i].by)
				continue;
			a->first[g->member[i].axis] = first / g->member[i].by;
			a->count[g->member[i].axis] = (n + g->member[i].by - 1) / g->member[i].by;
		}
		if (g->queries) {
			char text[32];
			snprintf(text, sizeof text, "%zu", t->first + first);
			hu_facts_set(&j->facts, "first", text);
			snprintf(text, sizeof text, "%zu", t->of ? t->of : t->first + g->length);
			hu_facts_set(&j->facts, "of", text);
		}
	}
}

size_t
hu_tiles_stretch(const hu_judge_array *a)
{
	size_t n = 1;

	for (int d = 0; d < a->a.rank; d++)
		n *= a->count[d];
	return n;
}
