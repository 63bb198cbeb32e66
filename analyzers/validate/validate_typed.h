/* SPDX-License-Identifier: Apache-2.0
   Rows of files that run as they are: "as typed", the model's own with its float16 and bfloat16, as a runtime has them,
   and files that converters made of it. */
#ifndef HU_ANALYZERS_VALIDATE_TYPED_H
#define HU_ANALYZERS_VALIDATE_TYPED_H

#include "analyzers/validate/against/against.h"

/* runtime: its name where a file has such types or codes, else NULL; fused: 1 where it makes one pair of two pairs of
   QuantizeLinear and DequantizeLinear, 2 where also kernels of codes of nodes between these; pairs16: sums of two
   products of bytes saturate; own: the model's file has; m is that as it then runs, of file, which holds what differs
   from the model's in `fuses`. against: the other files, and then what tools write. */
typedef struct hu_validate_typed {
	hu_typing typing;
	int fused, pairs16;
	const char *runtime, *asked;
	int own;
	hu_onnx fuses, file;
	hu_imported m;
	hu_against *against;
	size_t nagainst;
} hu_validate_typed;

/* Reads option runtime. HU_EINVAL says which there are. */
hu_status hu_validate_runtime(hu_validate_typed *t, const hu_args *a);
/* Makes the model's file the second of POLICIES where it has such types, or codes and option runtime is given, and
   appends the files that option against names; T must outlive them. HU_EINVAL where option runtime is given and no file
   has such types, nor codes. */
hu_status hu_validate_typed_add(hu_validate_typed *t, const hu_network *n, hu_variants *policies, const hu_args *a);
/* Appends to `against` what each tool among POLICIES writes, once ranges have been measured. */
hu_status hu_validate_typed_tools(hu_validate_typed *t, hu_network *n, const hu_variants *policies);
void hu_validate_typed_release(hu_validate_typed *t);
#endif
