/* SPDX-License-Identifier: Apache-2.0
   Which node a policy's damage comes from: each node low alone, each node high alone, and what its tensors hold. */
#ifndef HU_ANALYZERS_SENSITIVITY_H
#define HU_ANALYZERS_SENSITIVITY_H

#include "analyzers/validate/effect/evaluate.h"
#include "analyzers/validate/effect/measures.h"
#include "analyzers/network/variants.h"

#include "lib/program/quantise/share.h"

#include <jansson.h>

/* Errors against float32 on all outputs, summed over inputs. */
typedef struct hu_damage {
	double error, all; /* sums of squares: of differences, and of float32's values */
	size_t flips;
} hu_damage;

/* low: this node alone has its scheme; high: all others have. local: the node's own results, low, against float32's, on
   float32's operands; joint: the same with all nodes low, so that errors of earlier nodes have arrived. position: the
   node's place among the nodes, from 0. Of its results in float32: the largest magnitude, that of 99.9 % of elements,
   and channels (the last axis) whose largest magnitude is more than OUTLIER times the median channel's. Of its rounded
   or coded operands that are no constants: elements that were not 0 and became 0, and those beyond the last code or the
   largest value. */
typedef struct hu_node_damage {
	const char *node, *layer, *op;
	char scheme[64]; /* its name, which outlives the policy */
	hu_damage low, high, local, joint;
	hu_range range;
	double p999, *channel; /* each channel's largest magnitude */
	size_t position, channels, outliers, operands, zeroed, saturated;
} hu_node_damage;

typedef struct hu_sensitivity {
	const char *policy;
	hu_node_damage *node;
	size_t n, inputs, calls, all_calls; /* calls that were run for single nodes, and those that complete runs had */
	hu_damage joint;                    /* of all nodes low */
	char *first_nonfinite;              /* all low: the layer that first makes what is not finite; or NULL */
	char **name;                        /* names that the list owns, nname of them */
	size_t nname, namecap;
	int held; /* each input had a program of its own, with the shapes and choices of float32 */
} hu_sensitivity;

/* Returns √(error / all), the relative L2 error. */
double hu_damage_rel(const hu_damage *d);
/* Returns sqrt(Σ rel²) over the nodes that were low alone: what independent errors would come to together. */
double hu_sensitivity_additive(const hu_sensitivity *s);

/* Lists the nodes where policy V, of schemes, does something to M, in the program's order; nothing is measured. */
hu_status hu_sensitivity_list(hu_sensitivity *r, const hu_variant *v, const hu_imported *m);
/* Lists them and measures each node's low alone, on the first INPUTS of S. */
hu_status hu_sensitivity_low(hu_sensitivity *r, const hu_variant *v, const hu_imported *m, const hu_range *range,
	const hu_samples *s, const hu_deciding *d, size_t inputs, size_t batch);
/* Adds the nodes of MORE that r has none of that layer of, with names that r then owns. */
void hu_sensitivity_add(hu_sensitivity *r, const hu_sensitivity *more);
/* The most harmful node first. */
void hu_sensitivity_sort(hu_sensitivity *r);
void hu_sensitivity_release(hu_sensitivity *r);

/* A node's ranges from a tensor T of its results, in a second pass (COUNTING) its histogram. */
void hu_sensitivity_survey(hu_node_damage *n, const hu_tensor *t, int counting);
/* Counts what the node's own codes and roundings lost of activations that the base has. */
void hu_sensitivity_count_lost(hu_node_damage *n, const hu_share *s);
/* The percentile and the outlier channels, after both passes. */
void hu_sensitivity_finish(hu_node_damage *n);

/* What the runs of one policy share, on the first INPUTS of S in batches of BATCH: it keeps the runs of one batch.
   RANGE as in hu_scheme_plan. sums: where it is not NULL, the summation models of low nodes. low_only:
   hu_sensitivity_run_alone measures nothing but low and local, and there is no survey. */
typedef struct hu_sensitivity_run hu_sensitivity_run;
hu_status hu_sensitivity_run_open(hu_sensitivity_run **w, const hu_variant *v, const hu_imported *m,
	const hu_range *range, const hu_samples *s, const hu_deciding *d, const hu_evaluate_sums *sums,
	size_t inputs, size_t batch, int low_only);
void hu_sensitivity_run_close(hu_sensitivity_run *w); /* NULL: nothing */
size_t hu_sensitivity_run_batches(size_t inputs, size_t batch);
/* Measures all nodes of r at once: joint, ranges, channels, and the first value that is not finite. It takes two passes
   and hu_sensitivity_finish of each node, which are done one by one where several runs share r. */
hu_status hu_sensitivity_run_survey(hu_sensitivity_run *w, hu_sensitivity *r);
hu_status hu_sensitivity_run_pass(hu_sensitivity_run *w, hu_sensitivity *r, int counting);
/* Adds what batch B shows of nodes FROM to TO - 1 of r, each low alone and high alone. */
hu_status hu_sensitivity_run_alone(hu_sensitivity_run *w, hu_sensitivity *r, size_t b, size_t from, size_t to);

void hu_sensitivity_print(const hu_sensitivity *r);
json_t *hu_sensitivity_json(const hu_sensitivity *r);
#endif
