/* SPDX-License-Identifier: Apache-2.0
   A kernel's result against its declared graph: the command line's arrays and facts, the graph's run, the verdicts. */
#ifndef HU_ANALYZERS_KERNEL_JOB_H
#define HU_ANALYZERS_KERNEL_JOB_H

#include "analyzers/judge/kernel/composite.h"
#include "lib/base/console/opt.h"
#include "lib/judge/kernel/choice.h"
#include "lib/import/import.h"
#include "lib/judge/kernel/graph.h"
#include "lib/judge/kernel/verdict.h"
#include "lib/store/npz.h"

enum { HU_JUDGE_ARRAYS = 16 };

/* An array by the name of a value of the graph. */
typedef struct hu_judge_array {
	char name[64];
	int id;
	hu_npy a;
	int is_cut; /* of a sample: the stretch of each axis that is looked at */
	size_t first[HU_BALLS_RANK], count[HU_BALLS_RANK];
} hu_judge_array;

typedef struct hu_judge_result {
	const char *name;
	int id; /* of the graph's value */
	hu_format f;
	double *got; /* in row-major order */
	hu_kernel_verdict v;
	int decides; /* the result is a choice: decision holds what it is worth */
	hu_choice decision;
	int same_shape;
	char shape[HU_BALLS_WORDS], wanted[HU_BALLS_WORDS];
	char as_if[200], right_if[96]; /* what it looks like, and which fact would make it right; "" where unknown */
	char narrower[160];            /* facts under which it is right too, with a bound `gain` times narrower; "" */
	double gain;
	char order[280];               /* which order of additions gives its bits, "" where that was not asked for */
	size_t *where;                 /* of a sample: the element of the whole result that each is; owned */
	size_t of;                     /* how many the whole result has */
} hu_judge_result;

typedef struct hu_kernel_job {
	const hu_composite *composite; /* NULL for a graph from the command line */
	const char *name, *results;    /* results: names separated by blanks, a question mark behind optional ones */
	char *last;                    /* the results of a text's last statement; owned */
	/* a program in place of a graph's text: then graph has the names of its tensors alone */
	const hu_program *program;
	hu_program *owned; /* of a program's JSON */
	hu_onnx onnx;      /* of a model */
	hu_imported imported;
	int is_onnx;
	hu_graph graph;
	hu_facts facts;
	hu_judge_array in[HU_JUDGE_ARRAYS], got[HU_JUDGE_ARRAYS], given[HU_JUDGE_ARRAYS];
	int nin, ngot, ngiven;
	int is_settled;
	int out_declared;     /* the fact `out` is the user's: it holds for all results */
	int bits, has_stores; /* has_stores: the declared graph rounds before its last store; 2: decidably */
	double confidence;
	const char *exact, *bound; /* files to write, or NULL */
	int culprit;               /* look for what was done instead */
	size_t sample;             /* about so many elements are judged, of tiles that seed draws; 0: all */
	uint64_t seed;
	int tiles; /* how many they became */
	int whole; /* values of the whole result are needed: no tiles */
	/* for culprit.c: all values are kept, and later calls read the value `scaled` times factor */
	int keep_all, scaled;
	const hu_balls *scaled_value;
	double factor;
	hu_judge_result result[HU_GRAPH_OUT];
	int nresult;
} hu_kernel_job;

/* Reads the command line and its files. hu_kernel_job_close is allowed whatever this returns. */
hu_status hu_kernel_job_open(hu_kernel_job *j, const hu_args *args);
hu_status hu_kernel_job_run(hu_kernel_job *j);
void hu_kernel_job_close(hu_kernel_job *j);

/* Runs the graph on the job's operands under other facts; value gets an array for each value of the graph, those that
   got names alone if all is 0. The caller releases them by hu_kernel_values_free. */
hu_status hu_kernel_job_values(const hu_kernel_job *j, const hu_facts *facts, hu_stores stores, hu_balls **value);
void hu_kernel_values_free(const hu_kernel_job *j, hu_balls *value);
/* What precedes every run: formats that are not declared are settled, and the first operand's numbers checked. */
hu_status hu_kernel_job_settle(hu_kernel_job *j);
/* The format of a result, as settled. */
hu_status hu_kernel_job_result_format(const hu_kernel_job *j, const hu_judge_array *got, hu_format *f);
/* sample.c: the run where j->sample is set. HU_EUNABLE where tiles of the kernel's results cannot be computed alone. */
hu_status hu_kernel_sample(hu_kernel_job *j);
/* Judges all of the results in tiles where they are so large that a run of the whole would take much memory, and their
   tiles can be computed alone. *done: that was so, and the verdicts are those of the whole. */
hu_status hu_kernel_tiles(hu_kernel_job *j, int *done);
/* The element of the whole array that element i of its stretch is. */
size_t hu_judge_array_at(const hu_judge_array *in, size_t i);
/* Element i of an array as a number: integers are codes of f with --bits. */
double hu_kernel_job_element(const hu_kernel_job *j, const hu_npy *a, size_t i, hu_format f);
/* The format of an array's own type, HU_NO_FORMAT for integers; and the format that the fact `key` declares, else that
   one. */
hu_format_id hu_kernel_job_own(const hu_npy *a);
hu_status hu_kernel_job_format(const hu_kernel_job *j, const char *key, const hu_npy *a, hu_format *f);
/* The worst word of all results. */
hu_kernel_word hu_kernel_job_word(const hu_kernel_job *j);

/* judge_report.c */
void hu_judge_report(const hu_kernel_job *j);
/* Returns 1 where fact i is told as assumed: each once, those of the kernel first; an empty one is the array's own. */
int hu_judge_assumed(const hu_facts *f, int i);
/* Writes the index of the result's worst element, such as "3,17"; empty for a single number. */
enum { HU_JUDGE_PLACE = 160 };
void hu_judge_place(const hu_kernel_job *j, const hu_judge_result *r, char *text, size_t size);
/* The absolute tolerance of KernelBench for results of this format. */
double hu_judge_atol(const hu_judge_result *r);

/* judge_json.c */
void hu_judge_report_json(const hu_kernel_job *j);
#endif
