/* SPDX-License-Identifier: Apache-2.0
   What the files of both modes, bits and statistics, have in common: head, environment, checksum. */
#ifndef HU_ANALYZERS_BASELINE_COMMON_H
#define HU_ANALYZERS_BASELINE_COMMON_H

#include "analyzers/drift/baseline/baseline.h"

/* Fills b with the environment block of run r and nothing else. */
void hu_baseline_environment(hu_baseline *b, const hu_run *r);
/* Writes the commit that is checked out around the working directory, as .git has it, or "-" where there is none. */
void hu_baseline_commit(char *out, size_t size);
/* Adds the notes that begin a baseline: the reason, who recorded it when and at which commit, and the environment. */
void hu_baseline_head(hu_tsv *t, const hu_baseline *b, const char *reason);
/* Adds the checksum of all that is in t as a note. */
void hu_baseline_sign(hu_tsv *t);
/* Parses n bytes of data, or the file PATH where data is NULL, as a table, hands its rows to `rows` together with `to`,
   and takes its environment into *of. HU_EFILE if `rows` refuses them, or if number of rows, checksum or environment
   are not what the head says. */
typedef hu_status hu_baseline_rows(void *to, const hu_table *t, const char *path);
hu_status hu_baseline_parse_table(
	hu_baseline *of, hu_baseline_rows *rows, void *to, const char *path, char *data, size_t n);
#endif
