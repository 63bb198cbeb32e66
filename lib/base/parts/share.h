/* SPDX-License-Identifier: Apache-2.0
   A command's work as units that several processes share: shards, which write parts that halfulp merge merges, or the
   ranks that mpirun starts together, which deal units out while they work. What units found is merged in their order,
   through the same texts whoever found it, so that a command writes the same whoever computed. A command that cuts its
   work fills in a hu_share_work and has a row in lib/base/ranks/shares.def. */
#ifndef HU_BASE_PARTS_SHARE_H
#define HU_BASE_PARTS_SHARE_H

#include "lib/base/terminal/progress.h"
#include "lib/base/parts/parts.h"

/* command: its name, which merge calls. text: a line that two processes have in common only if they do the same work,
   cut alike. folder: where parts lie. place: what merge is given to find them.
   n units; cost: seconds that each is expected to take, of which only ratios matter. group: units of one group (NULL:
   all) may be dealt together. joint: NULL, or for each unit whether all ranks can compute it together, where it is
   so large that others would be idle: `compute` is then called on every rank, with the ranks united (lib/base/ranks/
   united.h).
   name: a unit's name in parts, which the caller frees. compute: computes unit i and appends what was found, a text
   without tabs and line ends (lib/base/parts/pack.h). merge: takes what unit i found, in the order of units.
   keeps: a unit takes long and leaves files, so one process too keeps what it found in a part, which stays: --resume
   then makes nothing twice, and refuses other options.
   passing: NULL, or whether what a unit found is a failure of the machine (a full disk, no memory, a process that was
   killed), which --resume does not take over: the unit is computed again.
   late: the last so many units follow from what all others found, and `ready`, called once those are merged, prepares
   them. A shard computes its own of them where the folder has the parts of all others; else they are computed where
   units are merged. Ranks have none.
   checked: NULL, or returns how many bytes of files this process has compared with checksums.
   threaded: what is found depends on --threads, so merge uses the value that the parts were made with.
   bar: is shown while units are computed and merged, for notes and for who prints a line. steps: NULL, or by how many
   steps `compute` moves it for each unit; else a unit is one step. */
typedef struct hu_share_work {
	const char *command, *text, *folder, *place;
	int n, keeps, late, threaded;
	const double *cost;
	const size_t *steps;
	const int *group;
	const char *joint;
	char *(*name)(const void *of, int i);
	hu_status (*compute)(void *of, int i, hu_str *found);
	hu_status (*merge)(void *of, int i, const char *found);
	int (*passing)(const char *found);
	hu_status (*ready)(void *of);
	double (*checked)(const void *of);
	void *of;
	hu_progress bar;
} hu_share_work;

/* A process's share. own: what it read and found; parts: what need not be computed, own's or those that merge offers;
   there[i]: unit i is in own. */
typedef struct hu_sharing {
	hu_share_work *work;
	const hu_args *args;
	int quiet;             /* print JSON, or nothing */
	hu_shard shard;        /* n is 0 without --shard */
	char *path, *there;    /* path: of the part that is written */
	hu_parts *parts, own;
	double saved, saving;  /* when the part was saved last, and how long that took */
} hu_sharing;

/* Does this process's share as the command line asks for it by --shard and --resume: all units, those of a
   shard, or what rank 0 deals to it. Where *ends is 0 afterwards every unit was merged, and the command writes its
   tables; else another process does so. st: how this process has got on so far; with ranks all of them call it, and
   fail together. */
hu_status hu_share_out(hu_sharing *s, hu_share_work *w, const hu_args *args, hu_status st, int *ends);
/* Releases it; where st, how the command ended, is HU_OK, rank 0 removes the part that ranks kept for --resume, unless
   the work says that it stays. */
void hu_share_end(hu_sharing *s, hu_status st);
/* Lets rank 0 answer others who wait for units; for a unit that waits itself. Does nothing elsewhere. */
void hu_share_answer(void);

/* In sharing.c, for share.c and share_ranks.c: whether unit i was found; adds what it found; computes it where it was
   not found. hu_sharing_steps returns the steps of the bar that unit i takes, and hu_sharing_moved moves it past a
   unit, which was computed here or not. */
size_t hu_sharing_steps(const hu_share_work *w, int i);
void hu_sharing_moved(hu_share_work *w, int i, int here);
int hu_sharing_has(const hu_sharing *s, int i);
void hu_sharing_add(hu_sharing *s, int i, double seconds, const char *found);
hu_status hu_sharing_compute(hu_sharing *s, int i);
/* Saves the part; without `now` only where the last time is a while ago. */
hu_status hu_sharing_keep(hu_sharing *s, int now);
/* Has the process say, where a signal ends it, which file or folder keeps what was found (lib/base/guard/ended.h);
   for whoever has something there. */
void hu_sharing_promise(const hu_sharing *s);
/* In share_ranks.c, for share.c. The other ranks wait, asleep, until rank 0 calls it too. */
void hu_share_part(void);
/* Computes every unit that s->own lacks, on all ranks: rank 0 deals lots of units, largest first, to whoever is done
   with the last, and computes small ones itself meanwhile. After it s->own has every unit on rank 0. Collective;
   HU_EFILE on every rank where one sees another work than rank 0. */
hu_status hu_share_ranks(hu_sharing *s);

/* Needs of the options --shard and --resume, for a command's own table. of: the hu_args. */
int hu_share_alone(const void *of);
int hu_share_is_shard(const void *of);
#endif
