/* SPDX-License-Identifier: Apache-2.0
   Two files of anyone's, held to rules: a row a name of either, the worst first. */
#ifndef HU_ANALYZERS_FILES_H
#define HU_ANALYZERS_FILES_H

#include "analyzers/drift/files/rules.h"
#include "lib/judge/parts/bias_sum.h"

typedef enum hu_files_state {
	HU_FILES_SAME,   /* no value differs */
	HU_FILES_WITHIN, /* its rule holds */
	HU_FILES_IGNORED,
	HU_FILES_OPTIONAL,
	HU_FILES_BEYOND, /* from here on a failure: a bound does not hold */
	HU_FILES_NONFINITE,
	HU_FILES_DTYPE,
	HU_FILES_STEPS,
	HU_FILES_SHAPE,
	HU_FILES_ADDED,
	HU_FILES_MISSING
} hu_files_state;

typedef struct hu_files_row {
	const char *name;
	const hu_item *old, *new; /* NULL where only the other file has the name */
	hu_rule rule;             /* the rule that counted; its texts belong to the rules */
	hu_measures m;
	hu_bias_found bias; /* of hu_files_bias */
	hu_format_id ulps_of; /* the format of m.ulps[0]: the rule's first one, else that of the coarser dtype */
	hu_files_state state;
	double severity; /* of a failure, the measure divided by its bound */
	char *said;      /* what was found, as part of a sentence */
} hu_files_row;

typedef struct hu_files {
	hu_contents old, new;
	hu_rules rules;
	hu_files_row *row;
	size_t n, failed, same;
} hu_files;

/* hu_files_open opens both files. hu_files_judge compares what both have, judges it by g->rules and orders the rows:
   failures first, the worst first, then the others by how far they moved. `step` is as in hu_series_read. g->rules
   belongs to the caller, before and after. */
hu_status hu_files_open(hu_files *g, const char *old, const char *new, const char *step);
hu_status hu_files_judge(hu_files *g);
/* Whether the differences of each pair of tensors that hold numbers of a format have one direction, in ulps of the
   coarser format at the old value. A second pass over those tensors that differ; others get NaN. */
hu_status hu_files_bias(hu_files *g);
void hu_files_release(hu_files *g);
#endif
