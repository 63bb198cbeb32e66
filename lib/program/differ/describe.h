/* SPDX-License-Identifier: Apache-2.0
   Describes a program in words, call by call, and says where two programs differ: attributes, formats, roundings and
   sums by name. */
#ifndef HU_PROGRAM_DESCRIBE_H
#define HU_PROGRAM_DESCRIBE_H

#include "lib/base/str.h"
#include "lib/program/program.h"

/* One part of the description: a call, or a tensor that no call computes. */
typedef struct hu_program_part {
	const char *key; /* the first output's name, or the tensor's; unique in a program */
	int call;        /* index of the call; -1: a tensor */
	char *text;      /* "conv2d_dw conv1 part=4096 mode=RNE …": operator and layer, or "tensor", then KEY=VALUE */
} hu_program_part;

/* Describes all of p: calls in their order, then tensors. The keys point into p. */
hu_program_part *hu_program_describe(const hu_program *p, size_t *n);
void hu_program_parts_free(hu_program_part *part, size_t n);

/* Appends what differs between the texts of two parts, "part 4096 -> 2048, mode RNE -> RZ"; nothing if they are
   equal. */
void hu_describe_change(hu_str *out, const char *was, const char *is);

/* Appends lines "call 53 conv2d_dw conv1: part 4096 -> 2048", "call 7 cast dense1 is gone", "… is new", in the order of
   was and then of is, and returns their number. out may be NULL. */
size_t hu_program_compare(hu_str *out, const hu_program *was, const hu_program *is);
#endif
