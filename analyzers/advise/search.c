/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/search.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
hu_search_variant(const hu_search *s, const hu_assignment *a, hu_variant *v)
{
	*v = (hu_variant){ .by_node = 1, .name = "advised" };
	(void)hu_scheme_parse(&v->rest, "float32");
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->decision[i].n && a->choice[i]; k++) {
			HU_GROW(v->exception, v->n, v->cap);
			v->exception[v->n++] = (hu_exception){ .node = hu_xstrdup(s->decision[i].layers[k]),
				.scheme = s->scheme[a->choice[i] - 1] };
		}
	}
}

int
hu_search_keeps(const hu_search *s, const hu_effect *e, int h)
{
	int keeps = 1;
	double is;

	for (size_t k = 0; k < s->naccept; k++)
		keeps &= h ? hu_accept_keeps(&s->accept[k], e, &is) : hu_accept_keeps_here(&s->accept[k], e, &is);
	return keeps;
}

/* Runs the assignment on half H and asks the budget. */
static hu_status
try(hu_search *s, hu_assignment *a, int h)
{
	hu_variant variant;

	if (a->tried[h])
		return HU_OK;
	hu_search_variant(s, a, &variant);
	hu_status st = hu_trials_run(&a->effect[h], NULL, &s->trials, s->trials.n, &variant, h);
	hu_variant_release(&variant);
	HU_TRY(st);
	s->runs++;
	s->looks += h == 1;
	a->tried[h] = 1;
	a->keeps[h] = hu_search_keeps(s, &a->effect[h], h);
	return HU_OK;
}

static hu_status
keeps(hu_search *s, hu_assignment *a, int *is)
{
	*is = 0;
	HU_TRY(try(s, a, 0));
	if (a->keeps[0])
		HU_TRY(try(s, a, 1));
	*is = a->keeps[0] && a->keeps[1];
	if (!*is || !s->also)
		return HU_OK;
	if (!a->also_tried) {
		a->also = 1;
		HU_TRY(s->also(s->also_of, a, &a->also));
		a->also_tried = 1;
		s->broken += !a->also;
	}
	*is = a->also;
	return HU_OK;
}

static hu_assignment
assignment(const hu_search *s, const unsigned char *choice)
{
	hu_assignment a = { .choice = hu_xcalloc(s->n + 1, 1), .bytes = s->float_bytes, .seconds = s->float_seconds };

	for (size_t i = 0; i < s->n; i++) {
		const hu_decision *d = &s->decision[i];
		a.choice[i] = choice[i];
		a.bytes += d->bytes[choice[i]] - d->bytes[0];
		a.seconds += d->seconds[choice[i]] - d->seconds[0];
		a.predicted += d->damage[choice[i]];
	}
	a.cost = s->device ? a.seconds : a.bytes;
	return a;
}

void
hu_assignment_release(hu_assignment *a)
{
	for (int h = 0; h < 2; h++)
		if (a->tried[h])
			hu_effect_release(&a->effect[h]);
	free(a->choice);
	memset(a, 0, sizeof *a);
}

double
hu_search_size(const hu_search *s)
{
	return pow((double)s->nscheme + 1, (double)s->n);
}

static int
cheaper(const void *a, const void *b)
{
	const hu_assignment *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return x->predicted < y->predicted ? -1 : x->predicted > y->predicted;
}

hu_status
hu_search_all(hu_search *s, hu_assignment *best)
{
	size_t all = (size_t)hu_search_size(s), found = all;
	hu_assignment *a = hu_xcalloc(all + 1, sizeof *a);
	unsigned char *choice = hu_xcalloc(s->n + 1, 1);
	hu_status st = HU_OK;

	for (size_t i = 0; i < all; i++) {
		size_t rest = i;
		for (size_t k = 0; k < s->n; k++, rest /= s->nscheme + 1)
			choice[k] = (unsigned char)(rest % (s->nscheme + 1));
		a[i] = assignment(s, choice);
	}
	qsort(a, all, sizeof *a, cheaper);
	for (size_t i = 0; i < all && st == HU_OK && found == all; i++) {
		int is;
		st = keeps(s, &a[i], &is);
		if (st == HU_OK && is)
			found = i;
	}
	*best = (hu_assignment){ .choice = NULL };
	for (size_t i = 0; i < all; i++) {
		if (i == found)
			*best = a[i];
		else
			hu_assignment_release(&a[i]);
	}
	free(choice);
	free(a);
	return st;
}

/* Returns the choice of decision D that costs least among those of less damage than CHOICE, or -1. */
static int
better(const hu_search *s, const hu_decision *d, int choice)
{
	int to = -1;

	for (int k = 0; k <= (int)s->nscheme; k++)
		if (d->damage[k] < d->damage[choice] && (to < 0 || hu_search_cost(s, d, k) < hu_search_cost(s, d, to)))
			to = k;
	return to;
}

/* Raises the decision that loses most damage for its cost. Returns which, -1 where none can be. */
static int
raise(const hu_search *s, unsigned char *choice)
{
	double most = 0;
	int which = -1, to = 0;

	for (size_t i = 0; i < s->n; i++) {
		const hu_decision *d = &s->decision[i];
		int k = better(s, d, choice[i]);
		if (k < 0)
			continue;
		double more = hu_search_cost(s, d, k) - hu_search_cost(s, d, choice[i]),
		       gain = (d->damage[choice[i]] - d->damage[k]) / (more > 0           ? more
									      : s->device ? 1e-18
											  : 1e-9);
		if (which < 0 || gain > most) {
			most = gain;
			which = (int)i;
			to = k;
		}
	}
	if (which >= 0)
		choice[which] = (unsigned char)to;
	return which;
}

/* Lowers single nodes of BEST, the ones that save most first, as long as the budget is kept. */
static hu_status
lower(hu_search *s, hu_assignment *best)
{
	for (;;) {
		hu_assignment next = { .choice = NULL };
		double most = 0;
		unsigned char *choice = hu_xcalloc(s->n + 1, 1), *refused = hu_xcalloc(s->n * (s->nscheme + 1) + 1, 1);
		int is = 0, left = 1;
		hu_status st = HU_OK;
		while (left && !is && st == HU_OK) {
			size_t at = 0, to = 0;
			most = 0;
			for (size_t i = 0; i < s->n; i++)
				for (size_t k = 0; k <= s->nscheme; k++) {
					const hu_decision *d = &s->decision[i];
					double saves =
						hu_search_cost(s, d, best->choice[i]) - hu_search_cost(s, d, (int)k);
					if (saves > most && !refused[i * (s->nscheme + 1) + k]) {
						most = saves;
						at = i;
						to = k;
					}
				}
			if (!(left = most > 0))
				break;
			memcpy(choice, best->choice, s->n);
			choice[at] = (unsigned char)to;
			refused[at * (s->nscheme + 1) + to] = 1;
			next = assignment(s, choice);
			st = keeps(s, &next, &is);
			if (!is)
				hu_assignment_release(&next);
		}
		free(choice);
		free(refused);
		if (st != HU_OK || !is)
			return st;
		hu_assignment_release(best);
		*best = next;
	}
}

hu_status
hu_search_greedy(hu_search *s, hu_assignment *best)
{
	unsigned char *choice = hu_xcalloc(s->n + 1, 1), *path;
	size_t steps = 1, low = 0, high;
	hu_status st = HU_OK;

	*best = (hu_assignment){ .choice = NULL };
	for (size_t i = 0; i < s->n; i++)
		for (int k = 0; k <= (int)s->nscheme; k++)
			if (hu_search_cost(s, &s->decision[i], k) < hu_search_cost(s, &s->decision[i], choice[i]))
				choice[i] = (unsigned char)k;
	/* The whole path to float32, along which the predicted damage falls; the first that keeps the budget is found
	   by halving, each step by a run. */
	path = hu_xmalloc(s->n * (s->n * (s->nscheme + 1) + 2));
	memcpy(path, choice, s->n);
	while (raise(s, choice) >= 0)
		memcpy(path + s->n * steps++, choice, s->n);
	high = steps;
	while (low < high && st == HU_OK) {
		size_t middle = (low + high) / 2;
		hu_assignment a = assignment(s, path + s->n * middle);
		int is;
		st = keeps(s, &a, &is);
		if (st == HU_OK && is) {
			hu_assignment_release(best);
			*best = a;
			high = middle;
		} else {
			hu_assignment_release(&a);
			low = middle + 1;
		}
	}
	free(path);
	free(choice);
	return st == HU_OK && best->choice ? lower(s, best) : st;
}

void
hu_search_release(hu_search *s)
{
	hu_trials_release(&s->trials);
	for (int h = 0; h < 2; h++)
		hu_samples_part_free(&s->half[h]);
	for (size_t i = 0; i < s->n; i++) {
		free(s->decision[i].bytes);
		free(s->decision[i].seconds);
		free(s->decision[i].damage);
		for (size_t k = 0; k < s->decision[i].n; k++) {
			free(s->decision[i].nodes[k]);
			free(s->decision[i].layers[k]);
		}
		free(s->decision[i].weights);
		free(s->decision[i].nodes);
		free(s->decision[i].layers);
	}
	free(s->decision);
	free(s->quantisable);
	memset(s, 0, sizeof *s);
}
