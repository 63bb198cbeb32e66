/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/ranking.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"

#include <stdlib.h>

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

/* A user with the choices that rows are made of. */
typedef struct chooser {
	size_t user, items, n;
	const uint32_t *chosen;
	uint32_t held;
} chooser;

static int
has(const chooser *c, uint32_t item)
{
	size_t low = 0, high = c->n;

	if (item == c->held)
		return 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (c->chosen[middle] < item)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->n && c->chosen[low] == item;
}

/* Draws an item that the user did not choose, each with the same probability. */
static uint32_t
other(const chooser *c, uint64_t seed, uint32_t stream, uint64_t index)
{
	for (uint32_t attempt = 0;; attempt++) {
		uint32_t item = (uint32_t)below(hu_random_at(seed, stream, attempt, index).w[0], c->items);
		if (!has(c, item))
			return item;
	}
}

/* Rows come in groups of one user: a pair drawn among the chosen and HU_NEGATIVES others for training, the held item
   and its rivals for evaluation. */
static size_t
pair_of(const hu_choices *c, uint64_t seed, size_t group)
{
	return below(hu_random_word(seed, hu_fnv1a32("ratings/pair"), 0, group), c->begin[c->users]);
}

static size_t
user_of_pair(const hu_choices *c, size_t pair)
{
	size_t low = 0, high = c->users - 1;

	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;
		if (c->begin[middle] <= pair)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Where rows are written, and which. */
typedef struct rows {
	const hu_choices *c;
	uint64_t seed;
	size_t n_train, n_eval, groups; /* groups of rows for training */
	float *user, *item;
	unsigned char *label;
} rows;

static size_t
user_of_group(const rows *r, size_t group)
{
	return group < r->groups ? user_of_pair(r->c, pair_of(r->c, r->seed, group))
				 : (group - r->groups) % r->c->users;
}

/* Writes the rows of one group. A candidate's random index counts rows of evaluation, a negative's rows of training. */
static void
write_group(const rows *r, const chooser *c, size_t group)
{
	int train = group < r->groups;
	size_t each = train ? HU_NEGATIVES + 1 : HU_CANDIDATES, first = (train ? group : group - r->groups) * each,
	       n = train ? r->n_train : r->n_eval, to = train ? 0 : r->n_train;
	uint32_t stream = hu_fnv1a32(train ? "ratings/negative" : "ratings/candidate");
	uint32_t right = train ? c->chosen[pair_of(r->c, r->seed, group) - r->c->begin[c->user]] : c->held;

	for (size_t row = first; row < first + each && row < n; row++) {
		r->user[to + row] = (float)c->user;
		r->item[to + row] = (float)(row == first ? right : other(c, r->seed, stream, row));
		r->label[to + row] = row == first;
	}
}

/* Lists all groups by user: those of user u are order[begin[u]] ... order[begin[u + 1] - 1]. */
static void
by_user(const rows *r, size_t groups, size_t *begin, size_t *order)
{
	for (size_t g = 0; g < groups; g++)
		begin[user_of_group(r, g) + 1]++;
	for (size_t u = 0; u < r->c->users; u++)
		begin[u + 1] += begin[u];
	for (size_t g = groups; g-- > 0;)
		order[--begin[user_of_group(r, g) + 1]] = g;
	/* begin[u + 1] has become the first of user u */
	for (size_t u = 0; u < r->c->users; u++)
		begin[u] = begin[u + 1];
	begin[r->c->users] = groups;
}

static hu_status
write_rows(const rows *r)
{
	const hu_choices *c = r->c;
	size_t groups = r->groups + (r->n_eval + HU_CANDIDATES - 1) / HU_CANDIDATES, most = 0;
	size_t *begin = hu_alloc((c->users + 2) * sizeof *begin), *order = hu_alloc((groups + 1) * sizeof *order);
	int full = !begin || !order;

	if (!full)
		by_user(r, groups, begin, order);
	for (size_t u = 0; u < c->users; u++)
		most = c->begin[u + 1] - c->begin[u] > most ? c->begin[u + 1] - c->begin[u] : most;
#pragma omp parallel if (!full)
	{
		uint32_t *room = malloc((most + 1) * sizeof *room);
		void *scratch = malloc(c->bytes + 1);
		if (!room || !scratch)
#pragma omp atomic write
			full = 1;
#pragma omp barrier
#pragma omp for schedule(dynamic, 16)
		for (size_t u = 0; u < c->users; u++) {
			if (full || begin[u] == begin[u + 1])
				continue;
			chooser one = { .user = u, .items = c->items, .n = c->begin[u + 1] - c->begin[u] };
			one.chosen = c->of(c, u, room, scratch, &one.held);
			for (size_t k = begin[u]; k < begin[u + 1]; k++)
				write_group(r, &one, order[k]);
		}
		free(room);
		free(scratch);
	}
	free(begin);
	free(order);
	return full ? hu_fail(HU_ENOMEM, "no memory for %zu rows of ratings", r->n_train + r->n_eval) : HU_OK;
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
	return write_rows(&(rows){ c, o->seed, ds->n_train, ds->n_eval,
		(ds->n_train + HU_NEGATIVES) / (HU_NEGATIVES + 1), users->values, items->values, labels->values });
}
