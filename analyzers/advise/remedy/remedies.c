/* SPDX-License-Identifier: Apache-2.0
   The search: every kind of remedy with both strengths on the model at hand; the best one that helps is kept. */
#include "analyzers/advise/remedy/remedies.h"
#include "analyzers/advise/remedy/remedy.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH = 8, /* so many nodes before what is not finite lies what made it so */
	MOST = 6   /* remedies of one model */
};

static const struct {
	const char *name;
	hu_remedy_code *code;
	int codes; /* it helps codes, else float16 */
	double strength[2];
	const char *summary;
} kind[] = {
#define HALF 0
#define CODES 1
#define REMEDY(name, code, of, first, second, summary) { name, hu_remedy_##code, of, { first, second }, summary },
#include "analyzers/advise/remedy/remedies.def"
#undef REMEDY
#undef CODES
#undef HALF
};

static const struct way {
	const char *name;
	int codes;
} ways[HU_REMEDY_WAYS] = { { "fp16", 0 }, { "occ-fp16", 0 }, { "ort-static", 1 } };

/* What a model does: on half h its effect, which is another's where lent is set, and the first node whose result is
   not finite. */
typedef struct outcome {
	hu_effect effect[2];
	int has[2], lent;
	char *worst;
} outcome;

static void
forget(outcome *o)
{
	for (int h = 0; h < 2; h++)
		if (o->has[h] && !o->lent)
			hu_effect_release(&o->effect[h]);
	free(o->worst);
	memset(o, 0, sizeof *o);
}

typedef struct finding {
	hu_network *n;
	const hu_remedy_inputs *s;
	hu_remedied *r;
	int codes;
} finding;

/* Runs network N the way that is asked for on half H. */
static hu_status
measure(const finding *f, hu_network *n, int h, outcome *o)
{
	hu_variants list = { .v = NULL };
	char *worst = NULL;

	hu_status st = hu_variants_add(&list, f->r->way);
	if (st == HU_OK)
		st = hu_trials_run(&o->effect[h], &worst, f->s->trials, n, &list.v[list.n - 1], h);
	if (st == HU_OK) {
		f->r->runs++;
		o->has[h] = 1;
	}
	if (!o->worst)
		o->worst = worst;
	else
		free(worst);
	hu_variants_release(&list);
	return st;
}

/* 1 where A is the better answer: fewer results are not finite, or as many and the outputs are nearer by a tenth. */
static int
better(const hu_effect *a, const hu_effect *b)
{
	if (a->nonfinite != b->nonfinite)
		return a->nonfinite < b->nonfinite;
	return isfinite(a->rel_l2) && !(a->rel_l2 >= 0.9 * b->rel_l2);
}

/* Marks WORST, the nodes that it reads from, DEPTH deep, and those that read it; all where nothing is known of it. */
static char *
near_of(const hu_onnx *m, const char *worst)
{
	const hu_onnx_graph *g = m->graph;
	char *near = hu_xcalloc(g->nnode + 1, 1);
	int found = 0;

	for (size_t i = 0; i < g->nnode && worst; i++) {
		if (!strcmp(g->node[i].name, worst))
			found = near[i] = 1;
		for (size_t k = 0; k < g->node[i].nin && found; k++) {
			int from = hu_remedy_maker(m, g->node[i].in[k]);
			near[i] |= from >= 0 && !strcmp(g->node[from].name, worst);
		}
	}
	if (!found)
		memset(near, 1, g->nnode);
	for (int depth = 0; depth < DEPTH && found; depth++)
		for (size_t i = g->nnode; i-- > 0;)
			for (size_t k = 0; k < g->node[i].nin && near[i]; k++) {
				int from = hu_remedy_maker(m, g->node[i].in[k]);
				if (from >= 0)
					near[from] = 1;
			}
	return near;
}

/* Writes the model of N with a remedy to PATH; *PLACES, which the caller frees, is NULL where it has no place. */
static hu_status
change(const hu_network *n, const hu_remedy_channels *seen, const char *worst, size_t k, double strength,
	const char *path, char **places)
{
	const hu_onnx *onnx = &n->onnx;
	hu_remedying r = { .m = onnx, .n = n, .seen = seen, .strength = strength };
	char *near = near_of(onnx, worst);

	*places = NULL;
	r.near = near;
	hu_str_init(&r.sentences);
	hu_status st = hu_onnx_edit_open(&r.e, onnx);
	if (st == HU_OK)
		kind[k].code(&r);
	if (st == HU_OK && r.changed && (st = hu_onnx_edit_write(r.e, path)) == HU_OK)
		*places = hu_xstrdup(r.sentences.s);
	hu_onnx_edit_free(r.e);
	hu_str_release(&r.sentences);
	free(near);
	return st;
}

/* The ranges of the values of N, another model than the one that they were measured of before. */
static hu_status
calibrate(const finding *f, hu_network *n)
{
	hu_variants way = { .v = NULL };

	hu_status st = hu_variants_add(&way, f->r->way);
	if (st == HU_OK && n->each) {
		hu_network view = hu_trials_view(f->s->trials, n, 0);
		st = hu_each_calibrate(&view, &way, f->s->trials->each[0].answers, f->s->trials->bar);
		n->ranges = view.ranges;
	} else if (st == HU_OK) {
		st = hu_network_calibrate(n, &way, &f->s->trials->half[0], f->s->trials->bar);
	}
	hu_variants_release(&way);
	return st;
}

static void
close_other(hu_network *o)
{
	hu_calibrated_release(&o->ranges);
	free(o->given);
	hu_imported_release(&o->m);
	hu_onnx_release(&o->onnx);
}

/* N's inputs with the model of PATH in its place; only onnx, m, given and ranges are its own. */
static hu_status
open_other(hu_network *to, const finding *f, const char *path)
{
	const hu_network *n = f->n;

	*to = *n;
	memset(&to->ranges, 0, sizeof to->ranges);
	HU_TRY(hu_onnx_open(&to->onnx, path));
	to->given = hu_xcalloc(n->ngiven + 1, sizeof *to->given); /* a run for a tool may add to it */
	memcpy(to->given, n->given, n->ngiven * sizeof *to->given);
	to->givencap = n->ngiven + 1;
	const hu_answers *first = f->s->trials->each[0].answers;
	hu_status st = n->each ? hu_network_answered(n, &to->m, first, &to->onnx, HU_TYPING_FLOAT32)
			       : hu_network_typed(n, &to->m, &to->onnx, HU_TYPING_FLOAT32);
	if (st == HU_OK && n->each)
		hu_imported_asked_release(&to->m);
	if (st != HU_OK) {
		hu_onnx_release(&to->onnx);
		free(to->given);
		return st;
	}
	st = f->codes ? calibrate(f, to) : HU_OK;
	if (st != HU_OK)
		close_other(to);
	return st;
}

/* The best remedy for the model N, which does NOW: *BEST of it, its model at PATH and what it does; best->name is NULL
   where none helps. */
static hu_status
find_best(const finding *f, const hu_network *n, const outcome *now, const char *path, hu_remedy *best, outcome *does)
{
	char *attempt = hu_xprintf("%s.try", path);
	hu_remedy_channels seen = { .n = 0 };
	hu_status st = f->codes ? hu_remedy_channels_find(&seen, n, f->s->trials) : HU_OK;

	for (size_t k = 0; k < 2 * sizeof kind / sizeof *kind && st == HU_OK; k++) {
		double strength = kind[k / 2].strength[k % 2];
		outcome o = { .worst = NULL };
		hu_network other;
		char *places;
		if (kind[k / 2].codes != f->codes)
			continue;
		if ((st = change(n, &seen, now->worst, k / 2, strength, attempt, &places)) != HU_OK || !places)
			continue;
		if ((st = open_other(&other, f, attempt)) == HU_OK) {
			st = measure(f, &other, 0, &o);
			close_other(&other);
		}
		if (st == HU_OK && better(&o.effect[0], &(best->name ? does : now)->effect[0])) {
			free(best->places);
			*best = (hu_remedy){ kind[k / 2].name, kind[k / 2].summary, strength,
				{ now->effect[0].rel_l2, o.effect[0].rel_l2 },
				{ now->effect[0].nonfinite, o.effect[0].nonfinite }, places };
			places = NULL;
			forget(does);
			*does = o;
			memset(&o, 0, sizeof o);
			if (rename(attempt, path))
				st = hu_fail(HU_EIO, "%s cannot be renamed to %s", attempt, path);
		}
		forget(&o);
		free(places);
	}
	hu_remedy_channels_release(&seen);
	remove(attempt);
	free(attempt);
	return st;
}

static int
keeps(const finding *f, const outcome *o)
{
	return o->has[0] && o->has[1] && f->s->keeps(f->s->of, &o->effect[0], 0) &&
	       f->s->keeps(f->s->of, &o->effect[1], 1);
}

/* Adds remedies to the model as it is at PATH, which the last one has written, until the budget is kept. */
static hu_status
improve(const finding *f, outcome *now)
{
	hu_status st = HU_OK;

	for (size_t k = 0; k < MOST && st == HU_OK && !keeps(f, now); k++) {
		hu_network other = *f->n;
		hu_remedy best = { .name = NULL };
		outcome does = { .worst = NULL };
		char *path = hu_xprintf("%s.%zu", f->r->path, k);
		if (!f->r->n || (st = open_other(&other, f, f->r->path)) == HU_OK) {
			st = find_best(f, &other, now, path, &best, &does);
			if (f->r->n)
				close_other(&other);
		}
		if (st == HU_OK && best.name && rename(path, f->r->path))
			st = hu_fail(HU_EIO, "%s cannot be renamed to %s", path, f->r->path);
		if (st == HU_OK && best.name && (st = open_other(&other, f, f->r->path)) == HU_OK) {
			st = measure(f, &other, 1, &does);
			close_other(&other);
			forget(now);
			*now = does;
			memset(&does, 0, sizeof does);
			HU_GROW(f->r->remedy, f->r->n, f->r->cap);
			f->r->remedy[f->r->n++] = best;
			best = (hu_remedy){ .name = NULL };
		} else {
			k = MOST;
		}
		forget(&does);
		free(best.places);
		remove(path);
		free(path);
	}
	return st;
}

/* One way: the model as it is, and where it breaks the budget with remedies. */
static hu_status
find(const finding *f, const char *dir)
{
	hu_remedied *r = f->r;
	outcome now = { .worst = NULL };

	r->path = hu_xprintf("%s/remedied_%s.onnx", dir, r->way);
	hu_status st = measure(f, f->n, 0, &now);
	if (st == HU_OK)
		st = measure(f, f->n, 1, &now);
	r->tried = st == HU_OK;
	r->needed = st == HU_OK && !keeps(f, &now);
	if (r->needed) {
		memcpy(r->before, now.effect, sizeof now.effect);
		r->has[0] = now.lent = 1;
		r->worst = now.worst ? hu_xstrdup(now.worst) : NULL;
		st = improve(f, &now);
		r->keeps = r->n && keeps(f, &now);
	}
	if (r->n && now.has[0] && now.has[1]) {
		memcpy(r->effect, now.effect, sizeof now.effect);
		r->has[1] = now.lent = 1;
	}
	forget(&now);
	return st;
}

hu_status
hu_remedies_find(hu_remedies *r, hu_network *n, const hu_remedy_inputs *s, const char *dir)
{
	r->decides = s->trials->d->classes > 1;
	for (size_t k = 0; k < HU_REMEDY_WAYS; k++) {
		if (!(ways[k].codes ? s->int8 : s->fp16))
			continue;
		hu_remedied *one = &r->way[r->n++];
		finding f = { n, s, one, ways[k].codes };
		one->way = ways[k].name;
		hu_status st = find(&f, dir);
		if (st != HU_OK && st != HU_EUNABLE) /* the tool's file would not run */
			return st;
	}
	return HU_OK;
}

void
hu_remedies_release(hu_remedies *r)
{
	for (size_t k = 0; k < r->n; k++) {
		hu_remedied *one = &r->way[k];
		for (size_t i = 0; i < one->n; i++)
			free(one->remedy[i].places);
		for (int h = 0; h < 2; h++) {
			if (one->has[0])
				hu_effect_release(&one->before[h]);
			if (one->has[1])
				hu_effect_release(&one->effect[h]);
		}
		free(one->remedy);
		free(one->worst);
		free(one->path);
	}
	memset(r, 0, sizeof *r);
}
