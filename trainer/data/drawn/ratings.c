/* SPDX-License-Identifier: Apache-2.0
   The data set "ratings": which items generated users chose, by a planted structure of low rank. User and item have
   RANK factors each; a user chose the items with the largest inner products of factors plus noise, and one of them,
   drawn at random, is held for evaluation. ranking.h has the rows that are made of it. */
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "trainer/data/ranking.h"

#include <stdlib.h>

enum { USERS = 400, ITEMS = 300, RANK = 4, MOST = 1 << 20, FEWEST_ITEMS = 120, SHARE = 12 };

/* Every pair that is drawn has a score, which takes about 0.1 microseconds. Sizes alone are told of more. */
static const size_t MOST_PAIRS = (size_t)1 << 31;

/* The inner products have the variance RANK x 1/9, the noise has noise^2 x 1/3 = 1/12: a sixth of what decides a choice
   is chance. */
static const double noise = 0.5;

typedef struct scored { double score; uint32_t item; } scored;

/* A number in (-2, 2) with mean 0 and variance 1/3: the sum of four uniform ones, exact but for additions. */
static double
factor(uint64_t seed, const char *stream, size_t row, int k)
{
	hu_random r = hu_random_at(seed, hu_fnv1a32(stream), (uint32_t)k, row);
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += (double)r.w[i] * 0x1p-32 - 0.5;
	return sum;
}

static int
by_score(const void *a, const void *b)
{
	const scored *x = a, *y = b;

	return x->score != y->score ? (x->score < y->score ? 1 : -1) : x->item < y->item ? -1 : 1;
}

/* Writes the `each` items that the user chose, without the held one, in ascending order. */
static void
choose(uint32_t *chosen, uint32_t *held, size_t each, size_t items, const double *of_items, uint64_t seed, size_t user,
	scored *s)
{
	double f[RANK];

	for (int k = 0; k < RANK; k++)
		f[k] = factor(seed, "ratings/user", user, k);
	for (size_t i = 0; i < items; i++) {
		double score = noise * factor(seed, "ratings/noise", user * MOST + i, 0);
		for (int k = 0; k < RANK; k++)
			score += f[k] * of_items[i * RANK + (size_t)k];
		s[i] = (scored){ score, (uint32_t)i };
	}
	qsort(s, items, sizeof *s, by_score);
	size_t out = (size_t)((uint64_t)hu_random_word(seed, hu_fnv1a32("ratings/held"), 0, user) * (each + 1) >> 32);
	*held = s[out].item;
	for (size_t i = 0, n = 0; i <= each; i++)
		if (i != out)
			chosen[n++] = s[i].item;
	qsort(chosen, each, sizeof *chosen, hu_ranking_by_item);
}

static hu_status
draw(hu_dataset *ds, const hu_dataset_options *o, size_t users, size_t items)
{
	size_t each = items / SHARE, *begin = hu_alloc((users + 1) * sizeof *begin);
	size_t drawn = o->dimensions_only ? 0 : users; /* how many users' choices are made */
	uint32_t *chosen = hu_alloc((drawn * each + 1) * sizeof *chosen), *held = hu_alloc((drawn + 1) * sizeof *held);
	double *of_items = hu_alloc(items * RANK * sizeof *of_items);
	hu_choices c = { users, items, begin, chosen, held };
	hu_status st = HU_OK;

	if (!begin || !chosen || !held || !of_items)
		st = hu_fail(HU_ENOMEM, "data set ratings: no memory for %zu users and %zu items", users, items);
	for (size_t u = 0; u <= users && st == HU_OK; u++)
		begin[u] = u * each;
	if (st == HU_OK && drawn) {
		for (size_t i = 0; i < items * RANK; i++)
			of_items[i] = factor(o->seed, "ratings/item", i / RANK, (int)(i % RANK));
#pragma omp parallel
		{
			scored *s = hu_xmalloc(items * sizeof *s);
#pragma omp for schedule(static)
			for (size_t u = 0; u < drawn; u++)
				choose(chosen + u * each, held + u, each, items, of_items, o->seed, u, s);
			free(s);
		}
	}
	if (st == HU_OK)
		st = hu_ranking_rows(ds, o, &c);
	free(begin);
	free(chosen);
	free(held);
	free(of_items);
	return st;
}

hu_status
hu_dataset_ratings(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	size_t users = o->users ? o->users : USERS, items = o->items ? o->items : ITEMS;

	(void)arg;
	if (items < FEWEST_ITEMS || items > MOST || users > MOST)
		return hu_fail(HU_EINVAL,
			"data set ratings: %zu users and %zu items; from 1 to %d users and from %d to %d items can be "
			"drawn",
			users, items, MOST, FEWEST_ITEMS, MOST);
	if (users * items > MOST_PAIRS && !o->dimensions_only)
		return hu_fail(HU_EINVAL, "data set ratings: %zu users and %zu items are more than %zu pairs to draw",
			users, items, MOST_PAIRS);
	return draw(ds, o, users, items);
}
