/* SPDX-License-Identifier: Apache-2.0
   The data set "ratings": which items generated users chose, by a planted structure of low rank. User and item have
   RANK factors each; a user chose the items with the largest inner products of factors plus noise, and one of them,
   drawn at random, is held for evaluation. ranking.h has the rows that are made of it; only the users in a row are
   drawn. */
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "trainer/data/ranking.h"

#include <stdlib.h>

enum { USERS = 400, ITEMS = 300, RANK = 4, MOST = 1 << 20, FEWEST_ITEMS = 120, SHARE = 12 };

/* A training row's pair is drawn by a word of 32 bits. Sizes alone are told of more. */
static const size_t MOST_CHOICES = UINT32_MAX;
/* Rows to train on where train= gives no number: each choice and its negatives, but no more than take some 150 MB. */
static const size_t MOST_ROWS = ((size_t)1 << 24) / (HU_NEGATIVES + 1) * (HU_NEGATIVES + 1);

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

/* Moves the n first of s by by_score to its front, in any order (Hoare's selection; no two elements are
   equal). */
static void
select_first(scored *s, size_t all, size_t n)
{
	size_t low = 0, high = all;

	while (high - low > 1) {
		scored pivot = s[low + (high - low - 1) / 2];
		size_t i = low, j = high - 1;
		for (;;) {
			while (by_score(&s[i], &pivot) < 0)
				i++;
			while (by_score(&pivot, &s[j]) < 0)
				j--;
			if (i >= j)
				break;
			scored t = s[i];
			s[i++] = s[j];
			s[j--] = t;
		}
		size_t cut = j + 1; /* those before it come before those after it */
		if (cut == n)
			break;
		*(cut < n ? &low : &high) = cut;
	}
}

typedef struct planted { uint64_t seed; const double *of_items; } planted;

/* The items of the largest scores, without the held one. */
static const uint32_t *
choose(const hu_choices *c, size_t user, uint32_t *chosen, void *scratch, uint32_t *held)
{
	const planted *p = c->with;
	size_t each = c->begin[user + 1] - c->begin[user];
	scored *s = scratch;
	double f[RANK];

	for (int k = 0; k < RANK; k++)
		f[k] = factor(p->seed, "ratings/user", user, k);
	for (size_t i = 0; i < c->items; i++) {
		double score = noise * factor(p->seed, "ratings/noise", user * MOST + i, 0);
		for (int k = 0; k < RANK; k++)
			score += f[k] * p->of_items[i * RANK + (size_t)k];
		s[i] = (scored){ score, (uint32_t)i };
	}
	select_first(s, c->items, each + 1);
	qsort(s, each + 1, sizeof *s, by_score);
	uint64_t word = hu_random_word(p->seed, hu_fnv1a32("ratings/held"), 0, user);
	size_t out = (size_t)(word * (each + 1) >> 32);
	*held = s[out].item;
	for (size_t i = 0, n = 0; i <= each; i++)
		if (i != out)
			chosen[n++] = s[i].item;
	qsort(chosen, each, sizeof *chosen, hu_ranking_by_item);
	return chosen;
}

static hu_status
draw(hu_dataset *ds, const hu_dataset_options *o, size_t users, size_t items)
{
	size_t each = items / SHARE, *begin = hu_alloc((users + 1) * sizeof *begin);
	double *of_items = hu_alloc(items * RANK * sizeof *of_items);
	planted p = { o->seed, of_items };
	hu_dataset_options wanted = *o;
	hu_status st = HU_OK;

	if (!begin || !of_items)
		st = hu_fail(HU_ENOMEM, "data set ratings: no memory for %zu users and %zu items", users, items);
	for (size_t u = 0; u <= users && st == HU_OK; u++)
		begin[u] = u * each;
	for (size_t i = 0; i < items * RANK && st == HU_OK && !o->dimensions_only; i++)
		of_items[i] = factor(o->seed, "ratings/item", i / RANK, (int)(i % RANK));
	if (!o->train && users * each * (HU_NEGATIVES + 1) > MOST_ROWS)
		wanted.train = MOST_ROWS;
	if (st == HU_OK)
		st = hu_ranking_rows(
			ds, &wanted, &(hu_choices){ users, items, begin, choose, items * sizeof(scored), &p });
	free(begin);
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
	if (users * (items / SHARE) > MOST_CHOICES && !o->dimensions_only)
		return hu_fail(HU_EINVAL, "data set ratings: %zu users and %zu items make more than %zu choices", users,
			items, MOST_CHOICES);
	return draw(ds, o, users, items);
}
