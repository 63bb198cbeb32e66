/* SPDX-License-Identifier: Apache-2.0
   What of a traced step was seen: the calls that are no moves and how many of them were judged, and for each tensor on
   which opaque calls (lib/program/opaque.h) its exact value would depend. */
#ifndef HU_ANALYZERS_COVERAGE_H
#define HU_ANALYZERS_COVERAGE_H

#include "analyzers/run/analyzer.h"

/* The calls of the step, all of whose results were recorded: moves, and of the others how many were judged, that is,
   are not opaque and have recorded operands. */
typedef struct hu_coverage_calls {
	size_t moves, calls, judged;
} hu_coverage_calls;

/* The choices of the step that the exact step takes as recorded: elements of the tensors by whose values they were
   made, and of these `otherwise` those whose exact values differ, or are not known. */
typedef struct hu_coverage_choices {
	size_t n, otherwise;
} hu_coverage_choices;

/* The tensors of the step that the recorded program read before an update, and of these those whose exact values are
   not known, or so far off that what the program made of them may differ: by more than a 32nd of the values' L2 norm;
   of those by which it may have searched, by more than a 1024th of what parts them from 0 or from another number that
   it read. */
typedef struct hu_coverage_reads {
	size_t n, apart;
} hu_coverage_reads;

/* Operators whose calls are opaque, in the order of their first calls. tainted: how many calls some unjudged weight
   depends on; weights: how many such weights. */
typedef struct hu_coverage_operator {
	const char *name, *reason;
	size_t calls, tainted, weights;
} hu_coverage_operator;

typedef struct hu_coverage_step {
	hu_coverage_calls calls;
	hu_coverage_choices choices;
	hu_coverage_reads reads;
	hu_coverage_operator *op;
	int nop;
	uint64_t *taint; /* by tensor id: bit i % 64 for each operator i of op that it depends on */
	char *blamed;    /* by call id: 1 where an unjudged weight depends on the opaque call */
} hu_coverage_step;

/* Goes through the step's calls; hu_coverage_release frees what it finds. */
void hu_coverage_init(hu_coverage_step *s, const hu_analysis *a, const hu_trace *t);
void hu_coverage_release(hu_coverage_step *s);
/* Counts a weight whose update, tensor id, was not judged, with the operators and calls that it depends on. */
void hu_coverage_blame(hu_coverage_step *s, const hu_analysis *a, const hu_trace *t, int id);
/* Counts the calls blamed by name, after the last hu_coverage_blame. */
void hu_coverage_end(hu_coverage_step *s, const hu_analysis *a);
/* Appends the names of the opaque operators that tensor id depends on, with commas; nothing where there are none. */
void hu_coverage_names(const hu_coverage_step *s, int id, hu_str *to);
#endif
