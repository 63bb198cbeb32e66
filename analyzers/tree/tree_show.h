/* SPDX-License-Identifier: Apache-2.0
   How the command tree shows what it reveals: rows of JSON, or text. */
#ifndef HU_ANALYZERS_TREE_SHOW_H
#define HU_ANALYZERS_TREE_SHOW_H

#include "analyzers/tree/reveal.h"
#include "analyzers/tree/reveal_names.h"
#include "lib/base/console/opt.h"
#include "lib/base/str.h"

#include <jansson.h>

/* What is asked, and the trees found so far. */
typedef struct hu_trees {
	const hu_args *args;
	size_t n, part;
	hu_format_id in;
	json_t *rows;
	struct hu_tree_dot *dot;   /* where the trees are drawn, too (tree_dot.h); NULL: nowhere */
	int full, wrong, sentence; /* sentence: say of each order which summation model has it */
	struct {
		char what[192];
		uint64_t hash;
	} * seen; /* trees of the first back end; hash 0 where it has none */
	int nseen, cap;
	int alike, backends; /* alike: sums of this back end with the first one's tree; backends: back ends before this
				one */
	int opened;          /* programs of this back end that could be loaded: there is one */
} hu_trees;

/* One box's answer. documented is the tree that its model promises, or NULL; the revealed tree is NULL where there is
   none, and why says so. */
typedef struct hu_tree_found {
	const char *backend, *what, *why;
	const hu_order *o, *documented;
	size_t sums;
	uint64_t hash;
	int differs, ours;
	hu_str names;
} hu_tree_found;

/* Shows one answer, or counts it if the first back end had the same tree; fills in f's hash, names and whether it
   differs from what is documented. */
void hu_tree_show(hu_trees *t, hu_tree_found *f);
#endif
