/* SPDX-License-Identifier: Apache-2.0
   Files of logits: one array of floats whose last axis is the classes, [positions, classes] of one sequence or
   [sequences, positions, classes]; and files of tokens, an array of integers without that axis. */
#ifndef HU_ANALYZERS_ENGINES_LOGITS_H
#define HU_ANALYZERS_ENGINES_LOGITS_H

#include "lib/base/status.h"

#include <stddef.h>

typedef struct hu_logits {
	size_t sequences, positions, classes;
	double *x; /* row-major; NULL where they are tokens */
	long long *token;
} hu_logits;

/* Reads the array `name` of path (safetensors, npz or npy), or, without a name, the one called logits, or the only one
   that has floats. HU_EFILE says what is wrong, and which arrays there are. */
hu_status hu_logits_read(hu_logits *l, const char *path, const char *name);
/* The same for tokens: the array called tokens, or the only one that has integers. classes is 0. */
hu_status hu_logits_tokens(hu_logits *l, const char *path, const char *name);
void hu_logits_release(hu_logits *l);
#endif
