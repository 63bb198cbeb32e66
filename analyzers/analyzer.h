/* SPDX-License-Identifier: Apache-2.0
   An analyzer reads RUN/ and writes tables in RUN/analysis/: one file that fills
   one hu_analyzer, and one row of analyzers.def. What several of them need of a
   traced step (its tensors, exact values, the exact step) is made once, here. */
#ifndef HU_ANALYZERS_ANALYZER_H
#define HU_ANALYZERS_ANALYZER_H

#include "analyzers/engine.h"
#include "analyzers/judge.h"
#include "lib/store/run.h"

typedef struct hu_analysis_options {
	size_t sample;             /* outputs judged of each tensor, a random part without repetition; 0: all */
	uint64_t seed;             /* of that part */
	const hu_engine *engine;
	int propagate;             /* execute the exact step too */
	double lost;               /* share of nonzeros that a safe loss scale may lose */
	const char *elements;      /* a file for every judged output; NULL: none */
} hu_analysis_options;

/* One traced step in memory. */
typedef struct hu_trace {
	size_t step;
	hu_tensor *t;              /* recorded, by tensor id; data NULL where not recorded */
	hu_judged **judged;        /* by tensor id; NULL where not judged yet */
	double **ideal;            /* the exact step's values by tensor id; NULL before hu_analysis_ideal */
	int skipped;               /* the finite check found something: the update kept the old values */
} hu_trace;

typedef struct hu_analysis {
	const hu_run *run;
	hu_analysis_options opt;
	const size_t *step;        /* the traced steps to look at, ascending */
	int nstep;
	size_t over_bound;         /* outputs that left their bound, found by replay */
	hu_str said;               /* what the last analyzer found, in one line */
	hu_trace *trace;           /* private: one a step, empty until asked for */
	size_t held;               /* private: bytes in them */
} hu_analysis;

typedef struct hu_analyzer {
	const char *name, *summary;
	hu_status (*run)(hu_analysis *a);
} hu_analyzer;

#define ANALYZER(id, name) extern const hu_analyzer hu_analyzer_##id;
#include "analyzers/analyzers.def"
#undef ANALYZER

const hu_analyzer *hu_analyzer_at(int i);     /* row I; NULL past the last */

/* STEPS: "all" or NULL, or numbers and ranges "100,200-400"; HU_EABSENT where no traced step is among them. */
hu_status hu_analysis_init(hu_analysis *a, const hu_run *run, const hu_analysis_options *opt, const char *steps);
void hu_analysis_release(hu_analysis *a);

/* The I-th step, read at the first call. Valid until another step is asked for. */
hu_status hu_analysis_trace(hu_analysis *a, int i, hu_trace **t);

/* Exact values and errors of a sample of tensor ID, judged at the first call; *j is
   NULL where the call's inputs or the tensor itself were not recorded. May be called
   from several threads for different tensors of one trace. */
hu_status hu_analysis_judge(hu_analysis *a, hu_trace *t, int id, const hu_judged **j);

/* Fills t->ideal; leaves it NULL where that is switched off or an input is missing. */
hu_status hu_analysis_ideal(hu_analysis *a, hu_trace *t);

/* RUN/analysis/NAME for a table, with provenance written into *t. */
void hu_analysis_begin(const hu_analysis *a, hu_tsv *t, const char *name, const char *columns);
hu_status hu_analysis_write(const hu_analysis *a, hu_tsv *t, const char *name);

/* The tensor's value where it was recorded and has one element; OTHERWISE elsewhere. */
double hu_trace_scalar(const hu_analysis *a, const hu_trace *t, const char *name, double otherwise);
#endif
