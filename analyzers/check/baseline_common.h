/* SPDX-License-Identifier: Apache-2.0
   What the files of both modes, bits and statistics, have in common: head, environment, checksum. */
#ifndef HU_ANALYZERS_BASELINE_COMMON_H
#define HU_ANALYZERS_BASELINE_COMMON_H

#include "analyzers/check/baseline.h"

/* The environment block of a run alone. */
void hu_baseline_environment(hu_baseline *b, const hu_run *r);
/* The commit that is checked out around the working directory, read from .git; "-" where there is none. */
void hu_baseline_commit(char *out, size_t size);
/* Reason, who, when, at which commit, and the environment. */
void hu_baseline_head(hu_tsv *t, const hu_baseline *b, const char *reason);
/* The checksum of all that is in T, as a note. */
void hu_baseline_sign(hu_tsv *t);
/* XXH3's 64 bits of all bytes but those of the line that holds them. */
void hu_baseline_checksum(const char *data, size_t n, char hex[17]);
/* Parses n bytes of data as a table, hands its rows to `rows` together with `to`, and takes its environment into *of.
   HU_EFILE if `rows` refuses them, or if number of rows, checksum or environment are not what the head says. */
typedef hu_status hu_baseline_rows(void *to, const hu_table *t, const char *path);
hu_status hu_baseline_parse_table(
	hu_baseline *of, hu_baseline_rows *rows, void *to, const char *path, char *data, size_t n);
#endif
