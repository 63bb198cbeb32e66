/* SPDX-License-Identifier: Apache-2.0
   The runs of validate as units of a work that shards or ranks share (lib/base/parts/share.h): a policy on some of the
   inputs; where nodes are asked about, the survey of all nodes of a policy, and some nodes alone on one batch; and,
   once all of these are merged, the exact network on one input. */
#ifndef HU_ANALYZERS_VALIDATE_UNITS_H
#define HU_ANALYZERS_VALIDATE_UNITS_H

#include "analyzers/network/network.h"
#include "analyzers/network/network_parts.h"
#include "analyzers/validate/outputs/outputs.h"

enum {
	HU_VALIDATE_PIECES = 64, /* a policy's inputs are cut into so many pieces at most, */
	HU_VALIDATE_NODES = 32   /* and the runs of its nodes, one batch after another, into about as many */
};

typedef enum hu_validate_kind {
	HU_VALIDATE_RUN,
	HU_VALIDATE_SURVEY,
	HU_VALIDATE_ALONE,
	HU_VALIDATE_EXACT
} hu_validate_kind;

/* first and last: the inputs of a run are first to last-1, and so are the nodes that are alone in batch `batch`; first:
   the number of the exact network's input in its trial. */
typedef struct hu_validate_unit {
	hu_validate_kind kind;
	size_t policy, batch, first, last;
} hu_validate_unit;

/* net, its ranges measured; policies; sums: of all but the first policy, or NULL; surveyed: inputs on which
   nodes are measured, 0: none are; exact: inputs of the exact network. row[i]: policy i's, whose outputs and
   sensitivity are set. judged: called once row[i] has all outputs, in the order of policies. */
typedef struct hu_validate_job {
	const hu_args *args;
	hu_network *net;
	const hu_variants *policies;
	const hu_evaluate_sums *sums;
	const hu_deciding *d;
	hu_judgement *row;
	hu_status (*judged)(void *of, size_t policy);
	void *of;
	size_t exact;
	double exact_s;        /* of a run of the exact network, about */
	hu_imported one;       /* the model for one input, for that */
	hu_exact_trial *trial; /* NULL before all rows are judged */
	size_t surveyed, now;  /* now: the policy that was run last */
	int begun;
	struct {
		size_t nonfinite;
		int first_call;
	} found;                     /* of the units of the policy that were merged */
	hu_sensitivity_run *sensing; /* of policy `sensed`; NULL: of none */
	size_t sensed;
	hu_validate_unit *unit;
	double *cost;
	int *policy, cap;
	hu_network_parts parts;
	hu_share_work work;
} hu_validate_job;

/* HU_ENOMEM where the memory cannot hold what every run needs, however it is done (validate_memory.c). For a job whose
   `exact` is settled. */
hu_status hu_validate_fits(const hu_validate_job *j);
/* Runs the policies, or this process's share of them, as hu_share_out does. */
hu_status hu_validate_share(hu_validate_job *j, hu_sharing *s, hu_status st, int *ends);
void hu_validate_job_release(hu_validate_job *j);
/* Cuts the work into units (validate_cut.c): runs of all policies first, whole batches each; then the nodes of one
   policy after another, for which it makes the rows' lists of nodes; in one process then the exact network's
   inputs. */
hu_status hu_validate_cut(hu_validate_job *j);

/* Makes policy p ready to run. A process that merges nothing keeps one policy's outputs at a time. Computes what a run
   of a policy finds, and merges it to the policy's row (validate_run.c). */
hu_status hu_validate_begin(hu_validate_job *j, size_t p, int merges);
hu_status hu_validate_run_compute(hu_validate_job *j, const hu_validate_unit *u, hu_str *found);
hu_status hu_validate_run_merge(hu_validate_job *j, const hu_validate_unit *u, const char *found);

/* Computes what a unit finds of its policy's nodes, and merges it to the policy's row (validate_nodes.c). */
hu_status hu_validate_nodes_compute(hu_validate_job *j, const hu_validate_unit *u, hu_str *found);
hu_status hu_validate_nodes_merge(hu_validate_job *j, const hu_validate_unit *u, const char *found);

/* In validate_exact.c. limit imports the model for one input, and leaves as many of the exact inputs as do not take too
   long, unless their number was given; *too_long becomes the operations of one where none is left. ready is
   hu_share_work's; compute and merge have number i. together is for ranks, which have no such units: all of them run
   the exact network after the others have been merged by rank 0; it does nothing elsewhere. */
hu_status hu_validate_exact_limit(hu_validate_job *j, int given, double *too_long);
hu_status hu_validate_exact_ready(void *of);
hu_status hu_validate_exact_compute(hu_validate_job *j, size_t i, hu_str *found);
hu_status hu_validate_exact_merge(hu_validate_job *j, size_t i, const char *found);
hu_status hu_validate_exact_together(hu_validate_job *j);
#endif
