/* SPDX-License-Identifier: Apache-2.0
   The row "as typed": the file with its float16 and bfloat16, as a runtime has them. */
#ifndef HU_ANALYZERS_VALIDATE_TYPED_H
#define HU_ANALYZERS_VALIDATE_TYPED_H

#include "analyzers/network/network.h"

/* runtime: its name where the file has such types, else NULL; m is the file as it then runs. */
typedef struct hu_validate_typed {
	hu_typing typing;
	const char *runtime;
	hu_imported m;
} hu_validate_typed;

/* Reads option runtime. HU_EINVAL says which there are. */
hu_status hu_validate_runtime(hu_validate_typed *t, const hu_args *a);
/* Makes it the second of POLICIES where N's file has such types; it must outlive them. HU_EINVAL where the option is
   given and the file has none. */
hu_status hu_validate_typed_add(hu_validate_typed *t, const hu_network *n, hu_variants *policies, const hu_args *a);
void hu_validate_typed_release(hu_validate_typed *t);
#endif
