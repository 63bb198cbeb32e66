/* SPDX-License-Identifier: Apache-2.0
   The files that inspect is given: each by itself, or the shards that an index names. */
#ifndef HU_ANALYZERS_INSPECT_FILES_H
#define HU_ANALYZERS_INSPECT_FILES_H

#include "analyzers/op/foreign.h"

/* One file, its path and its arrays, which know their place and stay there. */
typedef struct hu_inspect_file {
	char *path;
	hu_foreign *f;
} hu_inspect_file;

typedef struct hu_inspect_files {
	hu_inspect_file *file;
	size_t n, cap;
} hu_inspect_files;

/* Opens the n paths, in this order. One that ends in .index.json is Hugging Face's index of a checkpoint in shards, an
   object whose weight_map says in which file of the index's folder each tensor lies: the shards are opened in the order
   of their names, and hold exactly the tensors that the index has of them. Fails with HU_EFILE, in one line; *s is then
   empty. */
hu_status hu_inspect_files_open(hu_inspect_files *s, char *const *path, int n);
/* Returns the first of the patterns that fits no tensor of floating-point numbers, or NULL; the caller frees it. */
char *hu_inspect_files_unmatched(const hu_inspect_files *s, const char *patterns);
/* Returns how many dimensions a tensor of floating-point numbers has at most, of those that the patterns name (NULL:
   of all); -1 where there is none. */
int hu_inspect_files_rank(const hu_inspect_files *s, const char *patterns);
void hu_inspect_files_release(hu_inspect_files *s);
#endif
