/* SPDX-License-Identifier: Apache-2.0
   A program in words, a part a call, and where two programs differ: attributes, formats, roundings and sums by name. */
#ifndef HU_PROGRAM_DESCRIBE_H
#define HU_PROGRAM_DESCRIBE_H

#include "lib/base/str.h"
#include "lib/program/program.h"

/* A call, or a tensor that no call makes. */
typedef struct hu_program_part {
	const char *key; /* the first output's name, or the tensor's: unique in a program */
	int call;        /* its number; -1: a tensor */
	char *text;      /* "conv2d_dw conv1 part=4096 mode=RNE …": operator and layer, or "tensor", then KEY=VALUE */
} hu_program_part;

/* All of P: calls in their order, then tensors. P must outlive the keys. */
hu_program_part *hu_program_describe(const hu_program *p, size_t *n);
void hu_program_parts_free(hu_program_part *part, size_t n);

/* What is another between two texts of parts: "part 4096 -> 2048, mode RNE -> RZ"; nothing where they are the same. */
void hu_describe_change(hu_str *out, const char *was, const char *is);

/* Lines "call 53 conv2d_dw conv1: part 4096 -> 2048", "call 7 cast dense1 is gone", "… is new", by WAS's order and then
   IS's; their number is returned. OUT may be NULL. */
size_t hu_program_compare(hu_str *out, const hu_program *was, const hu_program *is);
#endif
