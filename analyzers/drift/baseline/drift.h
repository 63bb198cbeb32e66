/* SPDX-License-Identifier: Apache-2.0
   A run's quantities against a baseline's: one finding a key of either, the failures worst first. Harm comes first:
   another program, then what is not finite, outputs over their bound, losses and scores, keys that one lacks, what was
   lost or swamped, errors of calls, bits. Within one of these the change stands first that is most times what the
   baseline allows, or its own value where it allows nothing; of equal ones the earliest step. */
#ifndef HU_ANALYZERS_DRIFT_H
#define HU_ANALYZERS_DRIFT_H

#include "analyzers/drift/baseline/baseline.h"

/* How a quantity held; from HU_DRIFT on it did not. */
typedef enum hu_held {
	HU_BIT_IDENTICAL, HU_WITHIN_ULPS, HU_WITHIN_TOLERANCE, HU_BETTER, HU_NOT_COMPARED,
	HU_DRIFT, HU_NEW_KEY, HU_NON_FINITE, HU_MISSING_KEY
} hu_held;

typedef struct hu_finding {
	const hu_baseline_quantity *want, *got;   /* NULL where only the other set has the key */
	hu_held held;
	double ulps;                     /* between the two values, in want->format; NaN where there are none */
	double severity;                 /* failures are ordered by it: by harm, then by how far it moved */
} hu_finding;

/* Returns an array of *n findings, which the caller frees: the *failed failures, worst first, then the others by
   key. */
hu_finding *hu_drift_compare(const hu_baseline *want, const hu_baseline *got, size_t *n, size_t *failed);
const char *hu_held_text(hu_held held);
#endif
