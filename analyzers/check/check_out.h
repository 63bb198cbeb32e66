/* SPDX-License-Identifier: Apache-2.0
   Findings of a check as TAP, JUnit XML or JSON. */
#ifndef HU_ANALYZERS_CHECK_OUT_H
#define HU_ANALYZERS_CHECK_OUT_H

#include "analyzers/check/drift.h"
#include "analyzers/outcome/outcome.h"

#include <stdio.h>

typedef struct hu_check_report {
	const char *run, *path;
	const hu_baseline *want, *got;
	const hu_finding *f;
	size_t n, failed;
	const char *obtained; /* file with what the run has, or NULL */
	const char *history;  /* lines on what commits before had, or NULL */
} hu_check_report;

/* FORMAT: json, or one of hu_outcomes_writer_find's. */
void hu_check_write(FILE *out, const hu_check_report *r, const char *format);

/* A whole document that says that nothing of RUN was judged, and why: of JUnit an error, of TAP one line not ok, of
   JSON an object with run and error. */
void hu_check_write_error(FILE *out, const char *suite, const char *run, const char *reason, const char *format);

/* A verdict a quantity, to be released. */
void hu_check_outcomes(hu_outcomes *v, const hu_check_report *r);

/* One line a setting of the environment block that differs, so that a failure has a suspect: same
   summation tree or not, same casts or not, same versions or not. Freed by the caller. */
char *hu_check_attribution(const hu_check_report *r);
#endif
