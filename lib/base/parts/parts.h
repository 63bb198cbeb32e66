/* SPDX-License-Identifier: Apache-2.0
   Parts: what some units of a work found, in a file that another process merges with other parts (doc/formats.md). A
   work is what a command would do in one process; its units have names, and which units there are and in which order
   they are merged follows from the work alone. */
#ifndef HU_BASE_PARTS_PARTS_H
#define HU_BASE_PARTS_PARTS_H

#include "lib/base/console/opt.h"
#include "lib/base/str.h"

#include <stddef.h>

/* cost: seconds that were expected; seconds: those that it took; found: one line of text without tabs, "-" where it
   is empty. file: which one it was read from, -1: none. */
typedef struct hu_part_unit { char *name; double cost, seconds; char *found; int file; } hu_part_unit;
typedef struct hu_part_file { char *path, *shard; } hu_part_file;

/* kind: the command; work: a line that two processes have in common where they cut the same work in the same way;
   command: JSON text of the options and arguments that a merging process needs. file: the parts that were read, and
   their shards, as in "2/7". */
typedef struct hu_parts {
	char *kind, *work, *command;
	hu_part_unit *u;
	size_t n, cap, sorted;
	hu_part_file *file;
	int nfile, filecap;
} hu_parts;

/* Texts may be NULL for parts that are to be read, whose first file then sets them. */
void hu_parts_init(hu_parts *p, const char *kind, const char *work, const char *command);
void hu_parts_release(hu_parts *p);

/* Adds a unit; the texts are copied. */
void hu_parts_add(hu_parts *p, const char *name, double cost, double seconds, const char *found);
/* NULL where there is no such unit; valid until a unit is added. */
const hu_part_unit *hu_parts_find(hu_parts *p, const char *name);
/* Removes the units for whose `found` drop() returns 1. */
void hu_parts_drop(hu_parts *p, int (*drop)(const char *found));

/* Writes a part atomically. shard, as in "2/7", may be NULL. */
hu_status hu_parts_save(const hu_parts *p, const char *path, const char *shard);
/* Adds the units of a part. HU_EFILE where it is none, was changed since, belongs to another kind, work or version of
   halfulp, or where a unit that is there already found something else. */
hu_status hu_parts_read(hu_parts *p, const char *path);
/* Adds every part of a folder (files *.part, by name) and sets *files to their number. others, if not NULL, gets how
   many belong to another work, which are then passed over; if it is NULL they are a failure as above. */
hu_status hu_parts_read_folder(hu_parts *p, const char *folder, int *files, int *others);
/* HU_EFILE, with where the two differ in the reason, where the file is a part of another work than p's, which writing p
   there would destroy. HU_OK too where it is no part, or one that cannot be read and must be computed again. The other
   looks at every part of a folder. */
hu_status hu_parts_spare(const hu_parts *p, const char *path);
hu_status hu_parts_spare_folder(const hu_parts *p, const char *folder);

/* A share of a work: number i, from 1, of n. Parses "I/N"; HU_EINVAL names the option --shard. */
typedef struct hu_shard { int i, n; } hu_shard;
hu_status hu_shard_parse(hu_shard *s, const char *text);

/* The options and arguments of a command line as JSON, without the options named in `except`, which blanks separate.
   The caller frees it. */
char *hu_parts_command(const hu_args *a, const char *except);
/* The options alone, as words of a line that is the same in whichever order they were given: those of one name stay in
   their order. say: appends a value as it is to stand there; NULL: as it was given. The caller frees *text. */
hu_status hu_parts_options(
	char **text, const hu_args *a, const char *except, hu_status (*say)(hu_str *to, const char *value));

/* The parts that the command merge hands to the command that merges them; NULL where that runs by itself. With `only`
   the command makes sure that they are all of this work, and merges nothing. */
void hu_parts_offer(hu_parts *p, int only);
hu_parts *hu_parts_offered(void);
int hu_parts_only_asked(void);
#endif
