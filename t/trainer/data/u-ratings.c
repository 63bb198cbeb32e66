/* SPDX-License-Identifier: Apache-2.0
   Generated ratings: the same rows on every machine, a function of seed and index alone; nothing held for evaluation is
   shown in training, and what users chose has the planted structure. */
#include "lib/base/thread.h"
#include "t/tool/tap.h"
#include "trainer/data/ranking.h"
#include "trainer/run/session.h"
#include "trainer/ranked/session_open.h"

#include <math.h>
#include <stdlib.h>

enum { USERS = 60, ITEMS = 144 };

static float
value(const hu_dataset *ds, const char *name, size_t row)
{
	const hu_data_array *a = hu_dataset_find(ds, name);

	return a->kind == HU_ARRAY_FLOATS ? ((const float *)a->values)[row] : ((const unsigned char *)a->values)[row];
}

static void
rows(void)
{
	hu_dataset_options o = { .users = USERS, .items = ITEMS, .seed = 5, .train = 60000 };
	static char chosen[USERS][ITEMS], refused[USERS][ITEMS];
	size_t held_shown = 0, both = 0, order = 0, all = 0;
	hu_dataset ds;

	if (hu_dataset_open(&ds, "ratings", &o) != HU_OK)
		bail_out("%s", hu_reason());
	ok(ds.n_eval == 100 * USERS && ds.candidates == 100, "100 rows a user to evaluate: %zu", ds.n_eval);
	for (size_t i = 0; i < ds.n_train; i++) {
		int u = (int)value(&ds, "users", i), k = (int)value(&ds, "items", i);
		int l = (int)value(&ds, "labels", i);
		(l ? chosen : refused)[u][k] = 1;
		order += l == !(i % 5);
	}
	ok(order == ds.n_train, "each choice is followed by four other items");
	for (int u = 0; u < USERS; u++)
		for (int k = 0; k < ITEMS; k++) {
			both += chosen[u][k] && refused[u][k];
			all += (size_t)chosen[u][k];
		}
	ok(!both, "%zu items are both chosen and not", both);
	ok(all == USERS * (ITEMS / 12), "all %zu choices are among 60000 rows", all);
	for (size_t i = 0; i < ds.n_eval; i++) {
		int u = (int)value(&ds, "users", ds.n_train + i), k = (int)value(&ds, "items", ds.n_train + i);
		int l = (int)value(&ds, "labels", ds.n_train + i);
		held_shown += l != !(i % 100) || u != (int)(i / 100) || chosen[u][k] || (l && refused[u][k]);
	}
	ok(!held_shown, "a held item, and 99 that the user did not choose, with %zu exceptions", held_shown);

	/* How many more items two users who share one have in common: without structure as many as any two have. */
	double pairs = 0, common = 0, more = 0;
	for (int u = 0; u < USERS; u++)
		for (int v = u + 1; v < USERS; v++, pairs++) {
			double n = 0;
			for (int k = 0; k < ITEMS; k++)
				n += chosen[u][k] && chosen[v][k];
			common += n;
			more += n * (n - 1);
		}
	ok(more / common > 1.4 * common / pairs, "who shares an item shares %.2f others, and any two users %.2f",
		more / common, common / pairs);
	hu_dataset_release(&ds);
}

static void
known_answers(void)
{
	hu_dataset_options o = { .users = USERS, .items = ITEMS, .seed = 1, .train = 100, .eval = 200 };
	hu_dataset a, b;

	if (hu_dataset_open(&a, "ratings", &o) != HU_OK)
		bail_out("%s", hu_reason());
	is_bits64(hu_dataset_digest(&a), 0x936a0673ef314c64, "the first 100 rows of seed 1 and 200 to evaluate");
	hu_threads_set(1);
	o.train = 60;
	ok(hu_dataset_open(&b, "ratings", &o) == HU_OK, "fewer of them, on one thread");
	int same = 1;
	for (size_t i = 0; i < 260; i++)
		for (int k = 0; k < 3; k++)
			same &= value(&b, b.array[k].name, i) == value(&a, b.array[k].name, i < 60 ? i : i + 40);
	ok(same, "are the same rows");
	hu_dataset_release(&b);
	hu_dataset_release(&a);
	o.items = 119;
	ok(hu_dataset_open(&a, "ratings", &o) == HU_EINVAL, "refused: %s", hu_reason());
	o.items = o.users = 1 << 20;
	ok(hu_dataset_open(&a, "ratings", &o) == HU_EINVAL, "refused: %s", hu_reason());
}

/* As many users and items as MovieLens-20M has, of whom only those in a row are drawn. */
static void
large(void)
{
	hu_dataset_options o = { .users = 138493, .items = 26744, .seed = 1, .train = 10, .eval = 200 };
	hu_dataset a;

	if (hu_dataset_open(&a, "ratings", &o) != HU_OK)
		bail_out("%s", hu_reason());
	int right = value(&a, "users", 110) == 1 && value(&a, "labels", 110) == 1;
	for (size_t i = 0; i < 10; i++)
		right &= value(&a, "users", i) == value(&a, "users", i / 5 * 5) && value(&a, "labels", i) == !(i % 5);
	ok(right, "138493 users and 26744 items: two groups of rows, and two users to evaluate");
	/* Computed with NumPy from the definition: all scores of these users, sorted. */
	is_bits64(hu_dataset_digest(&a), 0x5f5def0a491ae68d, "whose bits are those of a sort of all scores");
	hu_dataset_release(&a);
	o.dimensions_only = 1;
	o.train = 0;
	if (hu_dataset_open(&a, "ratings", &o) != HU_OK)
		bail_out("%s", hu_reason());
	ok(a.n_train == 16777215, "unless told, %zu rows of %.0f", a.n_train, 138493.0 * (26744 / 12) * 5);
	hu_dataset_release(&a);
	/* Ten choices of each user of 120 items, with four rows more each: at most 2^24 - 1, a multiple of five. */
	static const struct {
		size_t users, items, rows;
		int values;
	} edge[] = { { 335544, 120, 16777200, 0 }, { 335545, 120, 16777215, 0 }, { 1 << 20, 120, 16777215, 0 },
		{ (1 << 20) + 1, 120, 0, 0 }, { 8, 119, 0, 0 }, { 8, 1 << 20, 8 * ((1 << 20) / 12) * 5, 0 },
		{ 8, (1 << 20) + 1, 0, 0 }, { 1 << 20, 49152, 16777215, 0 }, { 1 << 20, 49152, 0, 1 } };
	for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
		o = (hu_dataset_options){ .users = edge[i].users, .items = edge[i].items, .seed = 1,
			.dimensions_only = !edge[i].values };
		hu_status st = hu_dataset_open(&a, "ratings", &o);
		ok(edge[i].rows ? st == HU_OK && a.n_train == edge[i].rows : st == HU_EINVAL,
			"%zu users, %zu items: %zu rows%s", edge[i].users, edge[i].items, edge[i].rows,
			edge[i].rows ? "" : ", which is refused");
		if (st == HU_OK)
			hu_dataset_release(&a);
	}
}

/* The ranks of an evaluation, from its probabilities one row at a time and by sorting. */
static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

static void
ranks(void)
{
	hu_dataset_options o = { .users = 8, .items = 120, .seed = 2, .train = 400, .eval = 8 * 100 - 1 };
	hu_config c = { .width = 1, .loss_weight = 1, .scaling = { .loss_weight = 1 }, .batch = 30, .steps = 20,
		.epochs = 2, .seed = 4, .layers = 2, .hidden = 4, .backend = (char[]){ "cpu" },
		.optim = { .lr = 0.5 } };
	hu_session s;
	hu_dataset d;
	hu_evaluation e;
	uint64_t digest;

	if (hu_model_find("ncf", &c.row) || hu_policy_parse("float32", &c.policy) ||
		hu_scaler_find("none", &c.scaling.rule) || hu_optim_find("sgd", &c.optim.row) ||
		hu_dataset_open(&d, "ratings", &o) || hu_session_open(&s, &c, &d) || hu_session_start(&s))
		bail_out("%s", hu_reason());
	for (size_t k = 0; k < c.steps; k++)
		if (hu_session_step(&s, k) || hu_session_commit(&s, &digest))
			bail_out("%s", hu_reason());
	if (hu_session_evaluate(&s, &e))
		bail_out("%s", hu_reason());
	double hits = 0, gain = 0;
	for (size_t u = 0; u < 7; u++) { /* the eighth user's group lacks a row */
		double all[100], first = 0;
		for (size_t i = 0; i < 100; i++) {
			size_t row = s.data.n_train + u * 100 + i;
			hu_env env = { c.seed, 0 };
			hu_tensor p;
			if (hu_session_feed(&s, s.eval, &s.eval_id, &row, 1) || s.backend->step(s.eval, &env) ||
				hu_session_read_from(&s, s.eval, s.programs.eval, s.eval_id.p, &p))
				bail_out("%s", hu_reason());
			all[i] = hu_get(&p, 0);
		}
		first = all[0];
		qsort(all, 100, sizeof *all, descending);
		size_t last = 99;
		while (all[last] != first)
			last--;
		hits += last < 10;
		gain += last < 10 ? log(2) / log((double)last + 2) : 0;
	}
	ok(e.hit_rate == hits / 7, "hit rate at 10: %g, and %g by sorting", e.hit_rate, hits / 7);
	ok(fabs(e.ndcg - gain / 7) < 1e-12, "NDCG at 10: %g, and %g by sorting", e.ndcg, gain / 7);
	hu_session_close(&s);
}

int
main(void)
{
	known_answers();
	large();
	rows();
	ranks();
	return done_testing();
}
