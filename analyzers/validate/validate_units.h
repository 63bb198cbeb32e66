/* SPDX-License-Identifier: Apache-2.0
   The runs of validate as units of a work that shards or ranks share (lib/base/parts/share.h): a policy on some of the
   inputs. */
#ifndef HU_ANALYZERS_VALIDATE_UNITS_H
#define HU_ANALYZERS_VALIDATE_UNITS_H

#include "analyzers/network/network.h"
#include "analyzers/validate/outputs.h"

#include "lib/base/parts/share.h"

enum { HU_VALIDATE_PIECES = 64 }; /* a policy's inputs are cut into so many pieces at most */

/* net, its ranges measured; policies; sum: of all but the first policy's products, or NULL. row[i]: policy i's, whose
   outputs are set. judged: called once row[i] has all outputs, in the order of policies. */
typedef struct hu_validate_job {
	const hu_args *args;
	const hu_network *net;
	const hu_variants *policies;
	const hu_sum *sum;
	hu_judgement *row;
	hu_status (*judged)(void *of, size_t policy);
	void *of;
	size_t pieces, now; /* of a policy; now: that which was run last */
	int begun;
	struct { size_t nonfinite; int first_call; } found; /* of the units of the policy that were joined */
	double *cost;
	int *policy;
	char *text, *folder, *place;
	hu_share_work work;
} hu_validate_job;

/* Runs the policies, or this process's share of them, as hu_share_out does. */
hu_status hu_validate_share(hu_validate_job *j, hu_sharing *s, hu_status st, int *ends);
void hu_validate_job_release(hu_validate_job *j);
#endif
