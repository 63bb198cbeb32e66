/* SPDX-License-Identifier: Apache-2.0
   Models whose shapes follow from values, such as detectors that end with lists of boxes: each input has a program of
   its own under each policy, and outputs of its own shape. */
#ifndef HU_ANALYZERS_EACH_H
#define HU_ANALYZERS_EACH_H

#include "analyzers/network/network.h"
#include "analyzers/validate/outputs/outputs.h"

/* An output of one input. */
typedef struct hu_each_value {
	int rank;
	size_t d[HU_RANK], n;
	double *x;
} hu_each_value;

/* What a policy gives: value[i * nout + k] is output k of input i. answers: by input, what shapes followed from. kept:
   the model that the row's program was made of. */
typedef struct hu_each {
	size_t n, nout;
	hu_each_value *value;
	hu_answers *answers;
	hu_imported *kept;
} hu_each;

/* Runs policy P on all inputs, and sets the row's program and what it takes. ANSWERS: what float32's inputs asked for,
   by input; NULL for float32. */
hu_status hu_each_run(hu_each *e, hu_judgement *row, const hu_network *net, const hu_variant *policy,
	const hu_answers *answers, const hu_evaluate_sums *sums, hu_progress *bar);
void hu_each_release(hu_each *e);

/* Measures static scales for the POLICIES, as hu_network_calibrate does: on inputs of option calibrate, else on those
   of net->s, of which ANSWERS are float32's. */
hu_status hu_each_calibrate(hu_network *net, const hu_variants *policies, const hu_answers *answers, hu_progress *bar);
/* The ranges of net->m's tensors, for those of M of the same names; the caller frees the array alone. */
hu_range *hu_each_ranges(const hu_network *net, const hu_imported *m);

/* Says in *d what is decided by the outputs of E, float32's of all inputs of N, as options output and decision ask for
   it, and finds the lists among them; top must be set. */
hu_status hu_each_deciding(hu_each_lists *l, hu_deciding *d, const hu_each *e, const hu_network *n);
/* What E changed of BASE's decisions and values; the inputs are those of S. */
void hu_each_effect(hu_effect *r, const hu_each *e, const hu_each *base, const hu_each_lists *l, const hu_deciding *d,
	const hu_imported *m, const hu_samples *s);

/* What each node does under POLICY, as hu_sensitivity_run_survey and _alone measure it, on the first INPUTS of NET, of
   which ANSWERS are float32's: shapes and choices are held at these. hu_each_low measures each node's low alone, on
   inputs FIRST to LAST-1. *R needs hu_sensitivity_release after a failure too. */
hu_status hu_each_sensitivity(hu_sensitivity *r, const hu_network *net, const hu_variant *policy,
	const hu_answers *answers, const hu_evaluate_sums *sums, const hu_deciding *d, size_t inputs, hu_progress *bar);
hu_status hu_each_low(hu_sensitivity *r, const hu_network *net, const hu_variant *policy, const hu_answers *answers,
	const hu_deciding *d, size_t first, size_t last);

/* All policies: those of row[i] are run[i]. */
typedef struct hu_each_job {
	hu_each *run;
	size_t n;
	hu_each_lists lists;
} hu_each_job;

/* Refuses options that have no meaning where each input has a program of its own. */
hu_status hu_each_refuse(const hu_args *a);
/* Runs all POLICIES, and sets V's rows, what they decide and what they changed, but for rules; and what nodes do on the
   first SURVEYED inputs, 0: nothing is asked of nodes. */
hu_status hu_each_judge(hu_each_job *j, hu_validation *v, hu_network *net, const hu_variants *policies,
	const hu_evaluate_sums *sums, size_t surveyed, hu_progress *bar);
void hu_each_job_release(hu_each_job *j);
/* Writes DIR/POLICY.npz of every policy: each output, its inputs' elements joined along the first axis, and NAME.input,
   which input each row of it is of, or each element where rows have several shapes. */
hu_status hu_each_write_all(const hu_each_job *j, const hu_validation *v, const char *dir);
#endif
