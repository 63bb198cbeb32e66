/* SPDX-License-Identifier: Apache-2.0
   Goes through the units of analyze: computes each that this process is to compute, takes the others from parts, and
   joins what was found to tables, always in the same order and through the same packs. One process that does it all
   is the case in which no part is there. */
#ifndef HU_ANALYZERS_UNITS_WALK_H
#define HU_ANALYZERS_UNITS_WALK_H

#include "analyzers/units/cut.h"
#include "lib/base/parts/parts.h"

enum {
	HU_ANALYZERS = 0
#define ANALYZER(id, name, flags, reads) +1
#include "analyzers/run/analyzers.def"
#undef ANALYZER
};

/* take: rows of analyzers.def. tables: of each row. seconds: what each took. */
typedef struct hu_walk {
	hu_analysis *a;
	const char *take;
	void *tables[HU_ANALYZERS];
	double seconds[HU_ANALYZERS];
	hu_units units;
	hu_step_facts facts;
} hu_walk;

/* Cuts the work and begins the tables. */
hu_status hu_walk_init(hu_walk *w, hu_analysis *a, const char *take);
void hu_walk_release(hu_walk *w);

/* Computes unit i and appends what was found to *found. */
hu_status hu_walk_study(hu_walk *w, int i, hu_str *found);
/* Joins what unit i found, which must come in order. */
hu_status hu_walk_join(hu_walk *w, int i, const char *found);

/* Joins every unit: those of parts (NULL: none), and the others computed here or, where only is set, none (HU_EFILE
   says which shards are missing). */
hu_status hu_walk_all(hu_walk *w, hu_parts *parts, int only);
#endif
