/* SPDX-License-Identifier: Apache-2.0
   An analyzer reads RUN/ and writes tables in RUN/analysis/: one file that fills
   one hu_analyzer, and one row of analyzers.def. What several of them need of a
   traced step (its tensors, exact values, the exact step) is made once, here. */
#ifndef HU_ANALYZERS_ANALYZER_H
#define HU_ANALYZERS_ANALYZER_H

#include "lib/judge/engine.h"
#include "lib/judge/errors.h"
#include "lib/judge/judge.h"
#include "lib/judge/propagate.h"
#include "lib/store/run_trace.h"

typedef struct hu_analysis_options {
	size_t sample;             /* outputs judged of each tensor, a random part without repetition; 0: all */
	uint64_t seed;             /* of that part */
	const hu_engine *engine;
	int propagate;             /* execute the exact step too */
	int replay_only;           /* no other analyzer will ask for the exact step's gradients */
	double lost;               /* share of nonzeros that a safe loss scale may lose */
	const char *elements;      /* a file for every judged output; NULL: none */
	const char *const *accumulate; /* models for accumulate-what-if, ends with NULL; NULL: its own */
} hu_analysis_options;

/* One traced step in memory. */
typedef struct hu_trace {
	size_t step;
	hu_tensor *t;              /* recorded, by tensor id; data NULL where not recorded; read only */
	hu_judged **judged;        /* by tensor id; NULL where not judged yet */
	double **ideal; /* the exact step's values by tensor id, of gradients alone; NULL before hu_analysis_ideal */
	hu_errors_step *propagated; /* by tensor id; NULL as ideal is */
	hu_run_trace file;         /* private: where t lies */
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
	hu_propagation propagation; /* how the exact steps so far were made */
	size_t held;               /* private: bytes in them */
} hu_analysis;

typedef struct hu_analyzer {
	const char *name, *summary;
	hu_status (*run)(hu_analysis *a);
} hu_analyzer;

/* What the command must know of an analyzer before it runs any. */
enum hu_analyzer_flag {
	HU_ANALYZER_GRADIENTS = 1, /* it asks for the exact step's gradients, which are else not kept */
	HU_ANALYZER_ASKED = 2,     /* it runs only where --only names it, or an option is given that no other reads */
	HU_ANALYZER_VERDICT = 4    /* it writes summary.json from the tables of the others, so it is the last row */
};

#define ANALYZER(id, name, flags, reads) extern const hu_analyzer hu_analyzer_##id;
#include "analyzers/run/analyzers.def"
#undef ANALYZER

const hu_analyzer *hu_analyzer_at(int i);     /* row I; NULL past the last */
const char *hu_analyzer_reads(int i);         /* its options, a blank between two */
int hu_analyzer_flags(int i);

/* steps: "all" or NULL, or numbers and ranges "100,200-400"; HU_EABSENT where no traced step is among them. */
hu_status hu_analysis_init(hu_analysis *a, const hu_run *run, const hu_analysis_options *opt, const char *steps);
void hu_analysis_release(hu_analysis *a);

/* The i-th step, read at the first call. Valid until another step is asked for. */
hu_status hu_analysis_trace(hu_analysis *a, int i, hu_trace **t);

/* The job that judges tensor id's sample: 0 where it has no reference, or its call's inputs or the tensor itself were
   not recorded. `in`: room for the call's operands; *element is freed by the caller. */
int hu_analysis_job(
	const hu_analysis *a, const hu_trace *t, int id, hu_tensor **in, size_t **element, hu_judge_job *job);

/* Exact values and errors of a sample of tensor id, judged at the first call; *j is NULL where there is no job. Without
   sampling they are not kept: valid until the next tensor's are asked for. memo as in hu_judge_job. */
hu_status hu_analysis_judge(hu_analysis *a, hu_trace *t, int id, hu_memo **memo, const hu_judged **j);

/* To be called now and then by whoever walks through a step: pages of large traces that can be read again go. */
void hu_analysis_cool(const hu_trace *t);
/* After all of a step: what nobody will ask for again is dropped, so that memory does not grow with the number of
   steps. */
void hu_analysis_done(hu_analysis *a, hu_trace *t);

/* Fills t->ideal and t->propagated; leaves them NULL where that is switched off or an input is missing. */
hu_status hu_analysis_ideal(hu_analysis *a, hu_trace *t);

/* The first lines of every table: those of the run, then how it was analyzed, by which check knows tables that do not
   belong together. */
#define HU_ANALYSIS_NOTE "analysis"
void hu_analysis_provenance(const hu_analysis *a, hu_tsv *t, const char *name);
/* RUN/analysis/NAME for a table, with provenance written into *t. */
void hu_analysis_begin(const hu_analysis *a, hu_tsv *t, const char *name, const char *columns);
hu_status hu_analysis_write(const hu_analysis *a, hu_tsv *t, const char *name);

/* The tensor's value where it was recorded and has one element; otherwise elsewhere. */
double hu_trace_scalar(const hu_analysis *a, const hu_trace *t, const char *name, double otherwise);
#endif
