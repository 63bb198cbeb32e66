/* SPDX-License-Identifier: Apache-2.0
   Runs a version of a program where another version has run: only the calls whose results may differ. */
#ifndef HU_PROGRAM_SHARE_H
#define HU_PROGRAM_SHARE_H

#include "lib/program/exec.h"
#include "lib/program/quantise/version.h"

/* same[t]: the tensor of the base that holds the bits of V's tensor t whatever the inputs are, since both are computed
   by the same calls from equal constants and inputs; -1 where that is not known. */
typedef struct hu_share {
	const hu_version *v;
	int *same;
	hu_tensor *t; /* v's tensors; data of those that are shared belong to the base */
	size_t calls; /* that have to run */
} hu_share;

/* T are the base's tensors, constants and inputs included; they must outlive *s. HU_ENOMEM. */
hu_status hu_share_init(hu_share *s, const hu_version *v, const hu_version *base, hu_tensor *t);
/* Runs the calls that are not shared, after the base has run. */
hu_status hu_share_run(hu_share *s);
void hu_share_release(hu_share *s);
#endif
