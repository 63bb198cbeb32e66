/* SPDX-License-Identifier: Apache-2.0
   Findings of a check of a run as outcomes. */
#ifndef HU_ANALYZERS_CHECK_OUT_H
#define HU_ANALYZERS_CHECK_OUT_H

#include "analyzers/drift/baseline/drift.h"
#include "analyzers/drift/outcome/outcome.h"

typedef struct hu_check_report {
	const char *run, *path;
	const hu_baseline *want, *got;
	const hu_finding *f;
	size_t n, failed;
	const char *obtained; /* file with what the run has, or NULL */
	const char *history;  /* lines on what commits before had, or NULL */
} hu_check_report;

/* Fills v with one outcome for each quantity; the caller releases it. */
void hu_check_outcomes(hu_outcomes *v, const hu_check_report *r);

/* Returns one line for each setting of the environment block that differs, so that a failure has a suspect: whether
   the summation tree, the casts and the versions are the same. The caller frees it. */
char *hu_check_attribution(const hu_check_report *r);
#endif
