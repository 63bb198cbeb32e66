/* SPDX-License-Identifier: Apache-2.0
   The runs of validate as units of a work that shards or ranks share (lib/base/parts/share.h): a policy on some of the
   inputs; and, where nodes are asked about, the survey of all nodes of a policy, and some nodes alone on one batch. */
#ifndef HU_ANALYZERS_VALIDATE_UNITS_H
#define HU_ANALYZERS_VALIDATE_UNITS_H

#include "analyzers/network/network.h"
#include "analyzers/validate/outputs.h"

#include "lib/base/parts/share.h"

enum {
	HU_VALIDATE_PIECES = 64, /* a policy's inputs are cut into so many pieces at most, */
	HU_VALIDATE_NODES = 32   /* and the runs of its nodes, one batch after another, into about as many */
};

typedef enum hu_validate_kind { HU_VALIDATE_RUN, HU_VALIDATE_SURVEY, HU_VALIDATE_ALONE } hu_validate_kind;

/* first and last: the inputs of a run are first to last-1, and so are the nodes that are alone in batch `batch`. */
typedef struct hu_validate_unit {
	hu_validate_kind kind;
	size_t policy, batch, first, last;
} hu_validate_unit;

/* net, its ranges measured; policies; sum: of all but the first policy's products, or NULL; surveyed: inputs on which
   nodes are measured, 0: none are. row[i]: policy i's, whose outputs and sensitivity are set. judged: called once
   row[i] has all outputs, in the order of policies. */
typedef struct hu_validate_job {
	const hu_args *args;
	const hu_network *net;
	const hu_variants *policies;
	const hu_sum *sum;
	const hu_deciding *d;
	hu_judgement *row;
	hu_status (*judged)(void *of, size_t policy);
	void *of;
	size_t surveyed, now; /* now: the policy that was run last */
	int begun;
	struct { size_t nonfinite; int first_call; } found; /* of the units of the policy that were joined */
	hu_sensing *sensing; /* of policy `sensed`; NULL: of none */
	size_t sensed;
	hu_validate_unit *unit;
	double *cost;
	int *policy, cap;
	char *text, *folder, *place;
	hu_share_work work;
} hu_validate_job;

/* Runs the policies, or this process's share of them, as hu_share_out does. */
hu_status hu_validate_share(hu_validate_job *j, hu_sharing *s, hu_status st, int *ends);
void hu_validate_job_release(hu_validate_job *j);
/* Makes policy p ready to run. A process that joins nothing keeps one policy's outputs at a time. */
hu_status hu_validate_begin(hu_validate_job *j, size_t p, int joins);

/* Cuts the work into units (validate_cut.c): runs of all policies first, whole batches each; then the nodes of one
   policy after another, for which it makes the rows' lists of nodes. */
hu_status hu_validate_cut(hu_validate_job *j);

/* Computes what a unit finds of its policy's nodes, and joins it to the policy's row (validate_nodes.c). */
hu_status hu_validate_nodes_study(hu_validate_job *j, const hu_validate_unit *u, hu_str *found);
hu_status hu_validate_nodes_join(hu_validate_job *j, const hu_validate_unit *u, const char *found);
#endif
