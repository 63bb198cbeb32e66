/* SPDX-License-Identifier: Apache-2.0
   What was judged, a row each, and the one writer of it, in every format: for a person, for programs, for whoever runs
   tests, and for what CI services show. Whoever judges fills hu_outcomes and prints nothing. */
#ifndef HU_ANALYZERS_OUTCOME_H
#define HU_ANALYZERS_OUTCOME_H

#include "lib/base/str.h"
#include "lib/base/table/fields.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

typedef struct hu_outcome {
	char *name, *said, *detail; /* detail belongs to a failure; else NULL */
	int ok, line;               /* line: of the source, from 1, that says what is right; 0: of none */
	double moved, allowed;      /* NaN where nobody sets them */
} hu_outcome;

/* HU_OUTCOME_ROWS: of a text, at most. HU_OUTCOME_LINE: columns of the line with the decision, at most. */
enum { HU_OUTCOME_ROWS = 7, HU_OUTCOME_LINE = 159 };

typedef struct hu_outcomes {
	char *suite, *of; /* "halfulp check", and what was judged */
	char *source;     /* the file that says what is right, whose lines failures are shown at; NULL: none is known */
	char *why;        /* what failed first and why, in one line that stands before all others; or NULL */
	hu_outcome *v;    /* failures first */
	size_t n, cap, failed;
	int error;     /* nothing could be judged, which the one outcome says */
	char *summary; /* lines */
	/* For a person and for JSON, whose object has the members of `head` and, named `list`, a row for each outcome:
	   by `fields` those of `rows`, n of them, or where there are no fields the outcomes as they are. */
	hu_fields fields;
	void *rows;
	void (*drop)(void *rows, size_t n);    /* releases the rows; NULL: they are the caller's */
	size_t shown[HU_OUTCOME_ROWS], nshown; /* which rows a person reads */
	hu_str reasons, remarks; /* lines of the text before and behind the count of rows that are not shown */
	hu_str decision;         /* its last line; "": the summary ends it */
	json_t *head;
	const char *list; /* NULL: JSON has no rows */
} hu_outcomes;

void hu_outcomes_init(hu_outcomes *v, const char *suite, const char *of);
/* Makes V that of nothing judged: one outcome that failed, which says why. */
void hu_outcomes_refuse(hu_outcomes *v, const char *suite, const char *of, const char *reason);
/* Adds an outcome, which owns `said` and `detail` from then on. */
void hu_outcomes_add(hu_outcomes *v, const char *name, int ok, char *said, char *detail);
/* Gives V its decision, which V owns from then on; what a person reads has the summary's other lines before it. */
void hu_outcomes_decide(hu_outcomes *v, char *decision);
void hu_outcomes_release(hu_outcomes *v);
/* Writes V in FORMAT, a name that hu_outcomes_writer_find knows, on standard output, and releases it. Returns the exit
   code: HU_EXIT_JUDGED where something failed or there was nothing to judge. */
int hu_outcomes_end(hu_outcomes *v, const char *format);

/* A # within a name is written \#, lest a reader take what is behind it for a directive. */
void hu_outcomes_tap(FILE *out, const hu_outcomes *v);
void hu_outcomes_junit(FILE *out, const hu_outcomes *v);
/* Failures as GitHub's workflow commands, ::error title=…::…, which a job shows as annotations; GitHub shows ten of
   a step, so the first nine and a sentence on the rest, each at its line of the source. The summary is a ::notice. */
void hu_outcomes_github(FILE *out, const hu_outcomes *v);
/* Failures as GitLab's code quality report: an array of objects with description, check_name, fingerprint, severity and
   location, whose path is the source, or where there is none what was judged. */
void hu_outcomes_gitlab(FILE *out, const hu_outcomes *v);
/* Failures as SARIF 2.1.0, which code scanning services read: a result each, of which services take HU_SARIF_MOST. */
enum { HU_SARIF_MOST = 5000 };
void hu_outcomes_sarif(FILE *out, const hu_outcomes *v);
/* The 16 digits by which a service tells a failure of this name from others, whatever its numbers. */
void hu_outcome_fingerprint(char hash[17], const hu_outcomes *v, const char *name);
/* Failures as Markdown: a heading with the verdict, why, a table of the worst twenty, the summary as a list. */
void hu_outcomes_markdown(FILE *out, const hu_outcomes *v);

/* What a person reads: failures first, a decision last, which is cut to HU_OUTCOME_LINE columns where it is longer. */
void hu_outcomes_text(FILE *out, const hu_outcomes *v);
/* One object, with the members of head and the rows. */
void hu_outcomes_json(FILE *out, const hu_outcomes *v);
/* Returns the format that was asked for, else that of the environment's HALFULP_RESULTS, else text. */
const char *hu_outcome_format(const char *given);

typedef void hu_outcomes_writer(FILE *out, const hu_outcomes *v);
/* Returns the writer named text, json, tap, junit, github, gitlab, sarif or markdown, or NULL. */
hu_outcomes_writer *hu_outcomes_writer_find(const char *name);
/* HU_EINVAL where there is no such format. */
hu_status hu_outcome_format_check(const char *format);
#endif
