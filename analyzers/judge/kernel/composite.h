/* SPDX-License-Identifier: Apache-2.0
   The table of kernels known by name. */
#ifndef HU_ANALYZERS_COMPOSITE_H
#define HU_ANALYZERS_COMPOSITE_H

#include "lib/base/status.h"

typedef struct hu_composite {
	const char *name, *operands, *results, *facts, *graph, *summary;
} hu_composite;

const hu_composite *hu_composite_at(int i); /* NULL past the last */
/* HU_EINVAL, with the nearest name in the reason, where there is none. */
hu_status hu_composite_find(const char *name, const hu_composite **c);
#endif
