/* SPDX-License-Identifier: Apache-2.0
   The units of analyze as a work that processes share (lib/base/parts/share.h): what the analyzers find in one, packed,
   and how that is merged to their tables. One process that does it all is the case in which no part is there. */
#ifndef HU_ANALYZERS_UNITS_WALK_H
#define HU_ANALYZERS_UNITS_WALK_H

#include "analyzers/units/cut.h"
#include "lib/base/parts/share.h"

enum {
	HU_ANALYZERS = 0
#define ANALYZER(id, name, flags, reads) +1
#include "analyzers/run/analyzers.def"
#undef ANALYZER
};

/* take: rows of analyzers.def. tables: of each row. seconds: what each took. last: the call of the unit that was
   computed last. tile: what was found of the call's tiles that wait to be merged with its last one, ntile of them; none
   is set where one of them has no verdict. */
typedef struct hu_walk {
	hu_analysis *a;
	const char *take;
	void *tables[HU_ANALYZERS];
	double seconds[HU_ANALYZERS];
	hu_units units;
	hu_step_facts facts;
	hu_share_work work;
	char *text, *folder; /* work's */
	int last, ntile, none;
	char **tile;
} hu_walk;

/* Cuts the work and begins the tables. */
hu_status hu_walk_init(hu_walk *w, hu_analysis *a, const char *take);
void hu_walk_release(hu_walk *w);

/* Shares the units as hu_share_out does: where *ends is 0 afterwards, all are merged to tables. s: for hu_share_end,
   before hu_walk_release. */
hu_status hu_walk_share(hu_walk *w, hu_sharing *s, const hu_args *args, hu_status st, int *ends);
#endif
