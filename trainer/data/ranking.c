/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/ranking.h"

#include "lib/base/hash.h"
#include "lib/number/philox.h"

int
hu_ranking_by_item(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Uniform in 0 … n - 1; bits is one word of 32. */
static size_t
below(uint32_t bits, size_t n)
{
	return (size_t)((uint64_t)bits * n >> 32);
}

static int
has(const hu_choices *c, size_t user, uint32_t item)
{
	size_t low = c->begin[user], high = c->begin[user + 1];

	if (item == c->held[user])
		return 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (c->chosen[middle] < item)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->begin[user + 1] && c->chosen[low] == item;
}

/* Draws an item that the user did not choose, each with the same probability. */
static uint32_t
other(const hu_choices *c, size_t user, uint64_t seed, uint32_t stream, uint64_t index)
{
	for (uint32_t attempt = 0;; attempt++) {
		uint32_t item = (uint32_t)below(hu_random_at(seed, stream, attempt, index).w[0], c->items);
		if (!has(c, user, item))
			return item;
	}
}

/* The user and item of a row for training. Every HU_NEGATIVES + 1 rows begin with a pair drawn among the chosen. */
static int
training_row(const hu_choices *c, uint64_t seed, size_t row, float *user, float *item)
{
	size_t group = row / (HU_NEGATIVES + 1), pairs = c->begin[c->users], low = 0, high = c->users - 1,
	       pair = below(hu_random_word(seed, hu_fnv1a32("ratings/pair"), 0, group), pairs);

	while (low < high) { /* finds the user whose pairs include this one */
		size_t middle = low + (high - low + 1) / 2;
		if (c->begin[middle] <= pair)
			low = middle;
		else
			high = middle - 1;
	}
	*user = (float)low;
	*item = (float)c->chosen[pair];
	if (row % (HU_NEGATIVES + 1) == 0)
		return 1;
	*item = (float)other(c, low, seed, hu_fnv1a32("ratings/negative"), row);
	return 0;
}

static int
evaluation_row(const hu_choices *c, uint64_t seed, size_t row, float *user, float *item)
{
	size_t u = row / HU_CANDIDATES % c->users;

	*user = (float)u;
	*item = (float)c->held[u];
	if (row % HU_CANDIDATES == 0)
		return 1;
	*item = (float)other(c, u, seed, hu_fnv1a32("ratings/candidate"), row);
	return 0;
}

hu_status
hu_ranking_rows(hu_dataset *ds, const hu_dataset_options *o, const hu_choices *c)
{
	hu_data_array *users, *items, *labels;

	ds->n_train = o->train ? o->train : c->begin[c->users] * (HU_NEGATIVES + 1);
	ds->n_eval = o->eval ? o->eval : c->users * HU_CANDIDATES;
	ds->candidates = HU_CANDIDATES;
	HU_TRY(hu_dataset_add(ds, o, "users", HU_ARRAY_FLOATS, hu_shape0(), c->users, &users));
	HU_TRY(hu_dataset_add(ds, o, "items", HU_ARRAY_FLOATS, hu_shape0(), c->items, &items));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), 2, &labels));
	if (o->dimensions_only)
		return HU_OK;
	float *u = users->values, *i = items->values;
	unsigned char *l = labels->values;
#pragma omp parallel for schedule(static)
	for (size_t k = 0; k < ds->n_train + ds->n_eval; k++)
		l[k] = (unsigned char)(k < ds->n_train ? training_row(c, o->seed, k, u + k, i + k)
						      : evaluation_row(c, o->seed, k - ds->n_train, u + k, i + k));
	return HU_OK;
}
