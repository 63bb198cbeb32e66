/* SPDX-License-Identifier: Apache-2.0
   What a path is, told by its first bytes: which of the rules hold for it, and which judgement. */
#ifndef HU_ANALYZERS_KIND_H
#define HU_ANALYZERS_KIND_H

typedef enum hu_kind {
	HU_KIND_NONE,       /* there is nothing, or it cannot be read: whoever reads it whole says why */
	HU_KIND_RUN,        /* a folder */
	HU_KIND_FILE,       /* a file of anyone's */
	HU_KIND_BASELINE,   /* what halfulp baseline wrote: of a run */
	HU_KIND_STATISTICS, /* of trainings, with --statistics */
	HU_KIND_SCORES,     /* of trainings, with --score */
	HU_KIND_OURS        /* another file of halfulp's */
} hu_kind;

/* Returns the kind of PATH; NULL is nothing. */
hu_kind hu_kind_of(const char *path);
/* Returns whether PATH is a folder, without reading it. */
int hu_kind_is_folder(const char *path);
#endif
