/* SPDX-License-Identifier: Apache-2.0
   A process's share of the units of analyze, as its command line asks for it: parts that are there already, and the
   part that it writes. */
#ifndef HU_ANALYZERS_UNITS_SHARING_H
#define HU_ANALYZERS_UNITS_SHARING_H

#include "analyzers/units/walk.h"

/* parts: what units found that need not be computed again; NULL: none is known. own: memory for it. */
typedef struct hu_sharing {
	int quiet;             /* print JSON, or nothing */
	hu_shard shard;        /* n is 0 without --shard */
	char *path;            /* of the part that is written; without --shard by ranks only */
	hu_parts *parts, own;
	double saved, saving;  /* when the part was saved last, and how long that took */
} hu_sharing;

/* Reads --shard, --part and --resume, and the parts that belong to them. */
hu_status hu_sharing_init(hu_sharing *s, hu_walk *w, const hu_args *args);
void hu_sharing_release(hu_sharing *s);

/* Whether unit i was found; what was found of it; computes it where it was not. */
int hu_sharing_has(hu_sharing *s, const hu_walk *w, int i);
void hu_sharing_add(hu_sharing *s, const hu_walk *w, int i, double seconds, const char *found);
hu_status hu_sharing_study(hu_sharing *s, hu_walk *w, int i);
/* Saves the part; without `now` only where the last time is a while ago. */
hu_status hu_sharing_keep(hu_sharing *s, int now);

/* Computes this shard's units and writes them to the part, which is saved now and then, so that --resume can go on
   where a process was ended. Prints a line on its cost and that of the other shards. */
hu_status hu_sharing_part(hu_sharing *s, hu_walk *w);
#endif
