/* SPDX-License-Identifier: Apache-2.0
   An engine that a run's forward pass becomes when a policy, sums or a division among ranks are changed: the program is
   made anew and executed on the weights and inputs that the run has recorded. */
#ifndef HU_ANALYZERS_ENGINES_VARIANT_H
#define HU_ANALYZERS_ENGINES_VARIANT_H

#include "analyzers/engines/forward.h"

/* What is changed; NULL: nothing is. split: a collective operation such as ring:4, or a number of ranks, that adds what
   ranks have of the products with weights, of the layers alone that a last key layers=PATTERNS names. routing: an
   engine whose routers' choices of experts are taken in place of its own (router replay; Ma and others,
   arXiv:2510.11370), while gates are its own.
 */
typedef struct hu_variant_options {
	const char *policy, *sum, *reductions, *split;
	const hu_forward *routing;
} hu_variant_options;

/* Makes and executes it; `from` must outlive *to, and hu_forward_release frees it. HU_EINVAL says which option cannot
   be met and why, HU_EFILE what the run has not recorded. */
hu_status hu_variant_make(hu_forward *to, const hu_forward *from, const hu_variant_options *v);
#endif
