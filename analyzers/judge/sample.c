/* SPDX-License-Identifier: Apache-2.0
   Some tiles of a kernel's results in place of all: each is computed from the stretches of the operands that it needs
   (samples.def), so that neither time nor memory grows with the arrays. Tiles are disjoint; the first and the last of
   all are among them, the others are drawn. What was found of them is one verdict. */
#include "analyzers/judge/culprit.h"
#include "analyzers/judge/judge_args.h"

#include "lib/base/mem.h"
#include "lib/number/philox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 4, MEMBERS = 10, TILES = 16 };

static const struct {
	const char *kernel, *needs, *axes;
} rows[] = {
#define SAMPLE(kernel, needs, axes) { #kernel, needs, axes },
#include "analyzers/judge/samples.def"
#undef SAMPLE
};

/* An axis that is cut: the arrays that have it, of which some may have fewer elements by a whole factor, as heads of
   keys that several heads of queries share. */
typedef struct group {
	int n, queries, is_shared, grows_first;
	struct {
		hu_judge_array *a;
		int axis;
		size_t by;
	} member[MEMBERS];
	size_t length, step, blocks;
} group;

typedef struct sample {
	hu_kernel_job *j;
	group g[GROUPS];
	int ng;
	size_t tiles, elements; /* of the first result, in a tile */
	size_t first, of;       /* where the queries that were handed in stand, of how many (0: of those) */
	size_t *tile;
	/* of each result, all tiles behind each other */
	struct {
		hu_balls x, declared, compute;
	} all[HU_GRAPH_OUT];
} sample;

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
read_group(hu_kernel_job *j, const char *text, size_t length, group *g)
{
	char *copy = hu_xstrdup(text), *save = NULL;
	int results = 0, is_result;
	hu_status st = HU_OK;

	copy[length] = 0;
	*g = (group){ .step = 1 };
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

static hu_status
groups(sample *s)
{
	const char *axes = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && s->j->composite; i++)
		if (!strcmp(rows[i].kernel, s->j->composite->name)) {
			axes = rows[i].axes;
			HU_TRY(hu_judge_words(rows[i].needs, needs, s->j));
		}
	for (const char *at = axes; at && *at && s->ng < GROUPS;) {
		size_t n = strcspn(at, ";");
		HU_TRY(read_group(s->j, at, n, &s->g[s->ng]));
		s->ng += s->g[s->ng].length > 1;
		at += n + (at[n] == ';');
	}
	if (s->ng)
		return HU_OK;
	return hu_fail(HU_EUNABLE,
		"--sample: no tile of these results of %s can be computed alone: judge all of them, without --sample",
		s->j->name);
}

/* Lets tiles grow until TILES of them have the wanted number of elements: first along the last axes, by the shortest
   side, and then along others. */
static void
grow(sample *s)
{
	size_t want = s->j->sample / TILES;

	s->elements = s->j->got[0].a.count;
	for (int k = 0; k < s->ng; k++)
		s->elements /= s->g[k].length;
	while (s->elements < want) {
		group *best = NULL;
		for (int k = 0; k < s->ng; k++) {
			group *g = &s->g[k];
			if (g->is_shared || g->step == g->length)
				continue;
			if (!best || g->grows_first > best->grows_first ||
				(g->grows_first == best->grows_first && g->step < best->step))
				best = g;
		}
		if (!best)
			break;
		size_t before = best->step;
		best->step = 4 * before <= best->length ? 2 * before : best->length;
		s->elements = s->elements / before * best->step;
	}
}

/* Numbers of tiles, each once: the first, the last, and drawn ones. */
static void
draw(sample *s)
{
	size_t blocks = 1, n;

	for (int k = 0; k < s->ng; k++) {
		s->g[k].blocks = s->g[k].length / s->g[k].step;
		blocks *= s->g[k].blocks;
	}
	n = (s->j->sample + s->elements - 1) / s->elements;
	s->tiles = n < blocks ? n : blocks;
	s->tile = hu_xcalloc(s->tiles + 1, sizeof *s->tile);
	for (size_t t = 0, at = 0; t < s->tiles;) {
		size_t b = t == 0 ? 0 : t == 1 ? blocks - 1 : hu_random_at(s->j->seed, 71, 0, at++).w[0];
		int had = 0;
		if (t > 1)
			b = (size_t)((double)b * 0x1p-32 * (double)blocks);
		for (size_t i = 0; i < t; i++)
			had |= s->tile[i] == b;
		if (had && s->tiles == blocks) /* all of them: in order */
			for (b = 0, had = 1; had; b += had)
				for (size_t i = had = 0; i < t; i++)
					had |= s->tile[i] == b;
		if (!had)
			s->tile[t++] = b;
	}
}

static void
cut(sample *s, size_t number)
{
	hu_kernel_job *j = s->j;

	for (int i = 0; i < j->nin + j->ngot; i++) {
		hu_judge_array *a = i < j->nin ? &j->in[i] : &j->got[i - j->nin];
		a->is_cut = 1;
		for (int d = 0; d < a->a.rank; d++) {
			a->first[d] = 0;
			a->count[d] = a->a.shape[d];
		}
	}
	for (int k = 0; k < s->ng; k++) {
		group *g = &s->g[k];
		size_t b = number % g->blocks, first = b + 1 == g->blocks ? g->length - g->step : b * g->step;
		number /= g->blocks;
		for (int i = 0; i < g->n; i++) {
			hu_judge_array *a = g->member[i].a;
			if (!g->member[i].by)
				continue;
			a->first[g->member[i].axis] = first / g->member[i].by;
			a->count[g->member[i].axis] = (g->step + g->member[i].by - 1) / g->member[i].by;
		}
		if (g->queries) {
			char text[32];
			snprintf(text, sizeof text, "%zu", s->first + first);
			hu_facts_set(&j->facts, "first", text);
			snprintf(text, sizeof text, "%zu", s->of ? s->of : s->first + g->length);
			hu_facts_set(&j->facts, "of", text);
		}
	}
}

static size_t
stretch(const hu_judge_array *a)
{
	size_t n = 1;

	for (int d = 0; d < a->a.rank; d++)
		n *= a->count[d];
	return n;
}

/* Puts a tile's balls behind those that are there. */
static hu_status
append(hu_balls *all, const hu_balls *x, size_t tiles, size_t t)
{
	size_t width = hu_balls_dim(x, -1), d[2] = { x->n * tiles / width, width };

	if (!all->b)
		HU_TRY(hu_balls_make(all, 2, d, "a sample"));
	memcpy(all->b + t * x->n, x->b, x->n * sizeof *x->b);
	return HU_OK;
}

static hu_status
take(sample *s, size_t t, hu_stores how)
{
	hu_kernel_job *j = s->j;
	hu_balls *v = NULL;
	hu_status st = hu_kernel_job_values(j, &j->facts, how, &v);

	for (int i = 0; i < j->ngot && st == HU_OK; i++) {
		hu_judge_result *r = &j->result[i];
		const hu_balls *x = &v[j->got[i].id];
		size_t n = stretch(&j->got[i]);
		if (x->n != n || x->rank != j->got[i].a.rank) {
			st = hu_fail(HU_EFILE, "--sample: a tile of %s has %zu elements, where the kernel's has %zu",
				r->name, n, x->n);
			break;
		}
		st = append(how == HU_STORES_ADD      ? &s->all[i].x
			    : how == HU_STORES_DECIDE ? &s->all[i].declared
						      : &s->all[i].compute,
			x, s->tiles, t);
		if (st != HU_OK || how != HU_STORES_ADD)
			continue;
		if (!r->got) {
			r->got = hu_xmalloc((n * s->tiles + 1) * sizeof *r->got);
			r->where = hu_xmalloc((n * s->tiles + 1) * sizeof *r->where);
		}
		for (size_t e = 0; e < n; e++) {
			size_t at = hu_judge_array_at(&j->got[i], e);
			r->where[t * n + e] = at;
			r->got[t * n + e] = hu_kernel_job_element(j, &j->got[i].a, at, r->f);
		}
	}
	hu_kernel_values_free(j, v);
	return st;
}

/* What the tile with the worst element looks like. */
static hu_status
culprit(sample *s, int i)
{
	hu_kernel_job *j = s->j;
	hu_judge_result *r = &j->result[i], part = *r;
	size_t n = r->v.n / s->tiles, t = r->v.worst / n;
	hu_balls *v = NULL;

	cut(s, s->tile[t]);
	hu_status st = hu_kernel_job_values(j, &j->facts, HU_STORES_ADD, &v);
	if (st == HU_OK) {
		part.got = r->got + t * n;
		part.v.worst = r->v.worst - t * n;
		part.v.n = n;
		st = hu_judge_culprit(j, &part, &v[j->got[i].id]);
		memcpy(r->as_if, part.as_if, sizeof r->as_if);
		memcpy(r->right_if, part.right_if, sizeof r->right_if);
	}
	hu_kernel_values_free(j, v);
	return st;
}

/* A number of queries that may be declared. */
static hu_status
count(const hu_kernel_job *j, const char *key, size_t *n)
{
	const char *v = hu_facts_text(&j->facts, key);

	return v && *v ? hu_facts_count(&j->facts, key, n) : HU_OK;
}

static hu_status
run(sample *s)
{
	hu_kernel_job *j = s->j;

	HU_TRY(hu_kernel_job_settle(j));
	HU_TRY(count(j, "first", &s->first));
	HU_TRY(count(j, "of", &s->of));
	HU_TRY(groups(s));
	grow(s);
	draw(s);
	j->tiles = (int)s->tiles;
	j->nresult = j->ngot;
	for (int i = 0; i < j->ngot; i++) {
		hu_judge_result *r = &j->result[i];
		hu_balls whole = { .rank = j->got[i].a.rank };
		r->name = j->got[i].name;
		r->id = j->got[i].id;
		r->same_shape = 1;
		r->of = j->got[i].a.count;
		memcpy(whole.d, j->got[i].a.shape, (size_t)whole.rank * sizeof *whole.d);
		hu_balls_shape(&whole, r->shape);
		hu_balls_shape(&whole, r->wanted);
		HU_TRY(hu_kernel_job_result_format(j, &j->got[i], &r->f));
		if (r->f.id == HU_NO_FORMAT)
			return hu_fail(HU_EINVAL, "--got %s holds integers: say their format, --set out=…, and --bits",
				r->name);
	}
	for (size_t t = 0; t < s->tiles; t++) {
		cut(s, s->tile[t]);
		HU_TRY(take(s, t, HU_STORES_ADD));
		if (j->has_stores > 1)
			HU_TRY(take(s, t, HU_STORES_DECIDE));
		if (j->has_stores)
			HU_TRY(take(s, t, HU_STORES_NONE));
	}
	for (int i = 0; i < j->ngot; i++) {
		hu_judge_result *r = &j->result[i];
		const hu_balls *x = &s->all[i].x;
		hu_kernel_judge(&r->v, r->got, x, j->has_stores > 1 ? &s->all[i].declared : x,
			j->has_stores ? &s->all[i].compute : x, r->f, j->confidence);
		if (j->culprit && r->v.word != HU_KERNEL_RIGHT)
			HU_TRY(culprit(s, i));
	}
	return HU_OK;
}

hu_status
hu_judge_sample(hu_kernel_job *j)
{
	sample s = { .j = j };
	const char *first = hu_facts_text(&j->facts, "first"), *of = hu_facts_text(&j->facts, "of");
	char *declared[2] = { hu_xstrdup(first ? first : ""), hu_xstrdup(of ? of : "") };
	hu_status st = run(&s);

	if (first && of) { /* those of the last tile were not declared */
		hu_facts_set(&j->facts, "first", declared[0]);
		hu_facts_set(&j->facts, "of", declared[1]);
	}
	free(declared[0]);
	free(declared[1]);
	for (int i = 0; i < j->ngot; i++) {
		hu_balls_release(&s.all[i].x);
		hu_balls_release(&s.all[i].declared);
		hu_balls_release(&s.all[i].compute);
	}
	free(s.tile);
	return st;
}
