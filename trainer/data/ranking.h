/* SPDX-License-Identifier: Apache-2.0
   Rows of implicit feedback, for the data sets that know which items a user chose: pairs of a user and an item with
   label 1 where the user chose it, and 0 where the item was drawn among the others. */
#ifndef HU_TRAINER_DATA_RANKING_H
#define HU_TRAINER_DATA_RANKING_H

#include "trainer/data/data.h"

/* What users chose. User u chose begin[u + 1] - begin[u] items, at least one, and one more, which is kept for
   evaluation. No user chose all items. */
typedef struct hu_choices {
	size_t users, items;
	const size_t *begin; /* users + 1 of them; fewer than 2^32 choices in all */
	/* Sets *held to the item of user u that is kept for evaluation and returns the others in ascending order; room
	   has space for them, and scratch has `bytes` bytes, for this thread alone. */
	const uint32_t *(*of)(const struct hu_choices *c, size_t u, uint32_t *room, void *scratch, uint32_t *held);
	size_t bytes;
	const void *with; /* for the function's own use */
} hu_choices;

/* A positive row is followed by HU_NEGATIVES rows of the same user with items that the user did not choose. For
   evaluation a user's held item is followed by HU_CANDIDATES - 1 such items, drawn with replacement, so that ranking is
   measured over HU_CANDIDATES (He and others: Neural collaborative filtering, WWW 2017, has the same numbers). */
enum { HU_NEGATIVES = 4, HU_CANDIDATES = 100 };

/* Fills ds with arrays users, items and labels. Row i for training is a function of seed and i alone: its user and item
   are drawn by Philox. There are o->train rows, by default as many as every chosen pair once with its negatives would
   take, and o->eval rows, by default HU_CANDIDATES for each user in ascending order. Only the choices of users who are
   in a row are asked for, one user's at a time on each thread. HU_ENOMEM. */
hu_status hu_ranking_rows(hu_dataset *ds, const hu_dataset_options *o, const hu_choices *c);
/* Compares two items, each a uint32_t, for qsort: the smaller number comes first. */
int hu_ranking_by_item(const void *a, const void *b);
#endif
