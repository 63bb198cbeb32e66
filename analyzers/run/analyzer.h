/* SPDX-License-Identifier: Apache-2.0
   An analyzer reads a run directory and writes tables into its folder analysis/. It is one file that fills one
   hu_analyzer, and one row of analyzers.def. Its work is cut into units (analyzers/units/): what it finds in one is
   packed, and packs are merged to tables in one order, whichever process computed them. What several analyzers need of
   a traced step (its tensors, exact values, the exact step) is made once, here. */
#ifndef HU_ANALYZERS_ANALYZER_H
#define HU_ANALYZERS_ANALYZER_H

#include "lib/judge/engine.h"
#include "lib/judge/errors.h"
#include "lib/judge/judge.h"
#include "lib/base/parts/pack.h"
#include "lib/judge/propagate.h"
#include "lib/store/run_trace.h"

typedef struct hu_analysis_options {
	size_t sample;             /* how many elements of each output are judged, chosen at random without repetition;
				      0: all */
	uint64_t seed;             /* seed of that choice */
	const hu_engine *engine;
	int propagate;             /* execute the whole step exactly too, so that errors of earlier calls are
				      included */
	int gradients;             /* 1 where an analyzer will ask for the gradients of the exact step */
	double lost;               /* share of nonzero values that may become zero under a safe loss scale */
	const char *elements;      /* file that gets a row for every judged element; NULL: none */
	const char *const *accumulate; /* models for accumulate-what-if, ended by NULL; NULL: its own choice */
} hu_analysis_options;

/* One traced step in memory. */
typedef struct hu_trace {
	size_t step;
	hu_tensor *t;              /* recorded tensors by id, read only; data is NULL where not recorded */
	hu_judged **judged;        /* by tensor id; NULL where a tensor is not judged yet */
	hu_enclosed **enclosed;    /* by tensor id; what replay left of the unit at hand (encloses of hu_analysis) */
	double **ideal; /* values of the exact step by tensor id, gradients only; NULL before hu_analysis_ideal */
	hu_errors_step *propagated; /* errors of the exact step by tensor id; NULL where ideal is */
	hu_run_trace file;         /* private: the file that t is in */
	int skipped;               /* 1 where the finite check found an overflow, so that the update kept the old
				      values */
	hu_propagation how;        /* how its exact step was made; steps is 0 before hu_analysis_ideal */
} hu_trace;

/* What merging needs to know of a step, without its tensors. propagated is as in hu_trace. */
typedef struct hu_step_facts { size_t step; int skipped; hu_errors_step *propagated; } hu_step_facts;

/* A unit of work: tile `tile` of `tiles` of a call of a traced step, these elements of its largest output; or, with
   call -1, what concerns the step as a whole and comes before its calls. */
typedef struct hu_work_unit { int step, call, tile, tiles; hu_region some; } hu_work_unit;

typedef struct hu_analysis {
	const hu_run *run;
	hu_analysis_options opt;
	const size_t *step;        /* the traced steps to look at, ascending */
	int nstep;
	size_t over_bound;         /* outputs beyond their error bound, found by replay */
	/* calls of steps that have no verdict, because MPFR and a faster method disagreed on exact values of theirs */
	size_t disagreed;
	hu_str said;               /* what the last analyzer found, in one line */
	hu_trace trace;            /* private: the step that was asked for last */
	int present;               /* private: its place in step; -1: none */
	hu_propagation propagation; /* how the exact steps so far were made */
	/* 1 where underflow asks for verdicts after replay: of outputs that are narrowed, replay keeps those of a unit
	   of a call in the trace's judged, until the unit is done */
	int keeps;
	/* 1 where other analyzers ask for exact values of updates after replay, which then keeps their enclosures in
	   the trace's enclosed, until the unit is done */
	int encloses;
} hu_analysis;

/* A column of a table that check holds runs to, and the direction in which it must not move. ids has the columns that
   name a row of the table, separated by blanks. */
typedef enum hu_held_against { HU_HELD_AGAINST_UP, HU_HELD_AGAINST_DOWN } hu_held_against;
typedef struct hu_held_column { const char *table, *ids, *column; hu_held_against against; } hu_held_column;

typedef struct hu_analyzer {
	const char *name, *summary;
	size_t tables;                    /* bytes of its tables, which are zeroed before begin */
	hu_status (*begin)(hu_analysis *a, void *tables);
	/* Packs what the unit holds for merge, which may be read on another machine. It reads of `tables` only
	   what begin put there, and of t only tensors that the unit's call reads and writes. NULL: the analyzer has no
	   units. */
	hu_status (*compute)(hu_analysis *a, const void *tables, hu_trace *t, const hu_work_unit *u, hu_pack *r);
	/* Unpacks what compute packed and adds it to the tables: units come in their order, by step, call and tile. */
	hu_status (*merge)(hu_analysis *a, void *tables, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r);
	void (*close)(hu_analysis *a, void *tables, const hu_step_facts *s);   /* after a step's units; may be NULL */
	hu_status (*end)(hu_analysis *a, void *tables);    /* writes the tables, and one line into a->said */
	void (*release)(void *tables);    /* after end, or after begin where something failed; may be NULL */
	const hu_held_column *held;       /* ends with a row without a table; NULL: check holds nothing of it */
} hu_analyzer;

/* What the command must know of an analyzer before any of them runs. */
enum hu_analyzer_flag {
	HU_ANALYZER_GRADIENTS = 1, /* it needs the gradients of the exact step, which are otherwise not kept */
	HU_ANALYZER_ASKED = 2,     /* it runs only where --only names it or an option is given that no other analyzer
				      reads */
	HU_ANALYZER_VERDICT = 4    /* it writes summary.json from the tables of the others, so it is the last row */
};

#define ANALYZER(id, name, flags, reads) extern const hu_analyzer hu_analyzer_##id;
#include "analyzers/run/analyzers.def"
#undef ANALYZER

const hu_analyzer *hu_analyzer_at(int i);     /* row i; NULL past the last */
const char *hu_analyzer_reads(int i);         /* names of its options, separated by blanks */
int hu_analyzer_flags(int i);

/* Selects the traced steps to look at. steps is "all" or NULL, or numbers and ranges such as "100,200-400"; HU_EABSENT
   where no traced step is among them. */
hu_status hu_analysis_init(hu_analysis *a, const hu_run *run, const hu_analysis_options *opt, const char *steps);
void hu_analysis_release(hu_analysis *a);

/* Returns the i-th step. It is read at the first call, and valid until another step is asked for. */
hu_status hu_analysis_trace(hu_analysis *a, int i, hu_trace **t);
/* Makes sure that the operands and outputs of call c are unpacked; -1: all tensors. */
hu_status hu_analysis_need(hu_trace *t, const hu_program *p, int c);

/* The first of the call's outputs that have the most elements. */
int hu_analysis_largest(const hu_analysis *a, int call);
/* The elements of output k that unit u of a call has, perhaps none: the same share as of the largest output where
   output k has as many elements or a whole number of times fewer, or, where the unit has columns, those columns of an
   output that is one row; else all, which the first tile has. */
hu_region hu_analysis_part(const hu_analysis *a, const hu_work_unit *u, int k);

/* Makes the job that judges the sample of tensor id. Returns 0 where it has no reference, or where its call's inputs or
   the tensor itself were not recorded. `in` is memory for the call's operands; the caller frees *element. */
int hu_analysis_job(
	const hu_analysis *a, const hu_trace *t, int id, hu_tensor **in, size_t **element, hu_judge_job *job);

/* Returns exact values and errors of a sample of tensor id, judged at the first call; *j is NULL where there is no job.
   Where every element is judged they are valid until the next tensor's are asked for. memo is as in hu_judge_job. */
hu_status hu_analysis_judge(hu_analysis *a, hu_trace *t, int id, hu_memo **memo, const hu_judged **j);

/* Whether output k of call c, which is no cast, is rounded to a narrower format than it is computed in, so that numbers
   may underflow. */
int hu_analysis_narrows(const hu_program *p, const hu_call *c, int k);
/* hu_exact_doubles (lib/judge/exact.h) of n elements from `first` on of output out of call c, by enclosures of replay's
   where it kept them. */
hu_status hu_analysis_doubles(double *v, hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tensor *const *in,
	int out, const hu_tensor *minus, size_t first, size_t n, hu_methods *methods);

/* Frees what is kept of the verdicts on call c, or, for c = -1, the values of the exact step. */
void hu_analysis_forget(hu_analysis *a, hu_trace *t, int c);

/* Releases pages of a large trace that can be read again from the file; to be called now and then while going through a
   step. */
void hu_analysis_cool(const hu_trace *t);
/* Executes the step exactly and fills t->ideal and t->propagated; leaves them NULL where that is switched off or an
   input is missing. */
hu_status hu_analysis_ideal(hu_analysis *a, hu_trace *t);

/* Appends how the run is analyzed: every option that numbers depend on, whatever the analyzer, and the steps. */
void hu_analysis_how(const hu_analysis *a, hu_str *to);
/* Writes the first lines of a table: those of the run, then how it was analyzed. The command check recognises by them
   tables that do not belong together. */
#define HU_ANALYSIS_NOTE "analysis"
void hu_analysis_provenance(const hu_analysis *a, hu_tsv *t, const char *name);
/* Appends the cells of the columns "call op phase layer tensor format" of a tensor that call c makes. Of one that no
   call makes, c being NULL, phase and layer are as given. */
void hu_analysis_call(hu_tsv *t, const hu_call *c, const char *phase, const char *layer, const char *tensor,
	const char *format);
/* hu_analysis_begin starts a table with its provenance; hu_analysis_write writes it, with its number of rows and its
   checksum, to the file `name` in the run's folder analysis/, and does not release it. */
void hu_analysis_begin(const hu_analysis *a, hu_tsv *t, const char *name, const char *columns);
hu_status hu_analysis_write(const hu_analysis *a, hu_tsv *t, const char *name);

/* Rows of a table on their way from compute to merge. hu_analysis_rows_init begins a table that has no more than a
   header; hu_analysis_rows packs its rows, or appends those that were packed to the table. */
void hu_analysis_rows_init(hu_tsv *t, const char *columns);
void hu_analysis_rows(hu_pack *r, hu_tsv *t);

/* Returns the value of the tensor called `name` where it was recorded and has one element, and otherwise elsewhere. */
double hu_trace_scalar(const hu_analysis *a, const hu_trace *t, const char *name, double otherwise);

/* Sets in to the call's operands in the trace; returns 0 where one of them was not traced. */
static inline int
hu_analysis_inputs(const hu_call *c, hu_trace *t, hu_tensor **in)
{
	for (int k = 0; k < c->nin; k++) {
		in[k] = &t->t[c->in[k]];
		if (!in[k]->data)
			return 0;
	}
	return 1;
}
#endif
