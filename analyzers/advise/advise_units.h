/* SPDX-License-Identifier: Apache-2.0
   What advise measures of each scheme in each node alone, as units of a work that shards or ranks share
   (lib/base/parts/share.h): a scheme on some of the inputs. */
#ifndef HU_ANALYZERS_ADVISE_UNITS_H
#define HU_ANALYZERS_ADVISE_UNITS_H

#include "analyzers/advise/search.h"
#include "analyzers/network/network_parts.h"

enum { HU_ADVISE_PIECES = 32 }; /* a scheme's inputs are cut into so many pieces at most */

typedef struct hu_advise_job {
	const hu_args *args;
	hu_search *s;   /* gets each decision's damage */
	hu_damage *sum; /* of the pieces of a scheme that were merged */
	size_t pieces;
	double *cost;
	int *scheme;
	hu_network_parts parts;
	hu_share_work work;
} hu_advise_job;

/* Measures, or does this process's share of it, as hu_share_out does. */
hu_status hu_advise_share(hu_advise_job *j, hu_sharing *s, hu_status st, int *ends);
void hu_advise_job_release(hu_advise_job *j);
#endif
