/* SPDX-License-Identifier: Apache-2.0
   The ONNX file of an assignment: what advise writes, and whether it keeps the budget as a runtime runs it, such as
   onnxruntime, which fuses nodes of integers, whose sums of pairs saturate on a processor without VNNI. */
#ifndef HU_ANALYZERS_ADVISE_WRITTEN_H
#define HU_ANALYZERS_ADVISE_WRITTEN_H

#include "analyzers/advise/search.h"

/* net and s are the caller's, and outlive it; dir is the folder that the file is for, which need not exist yet. */
typedef struct hu_written {
	hu_network *net;
	hu_search *s;
	const char *dir;
	int made; /* the folder was made to try files in it */
} hu_written;

/* Writes the file of A: the products of the programs of all inputs that were searched on have its types. */
hu_status hu_written_file(const hu_written *w, const hu_assignment *a, const char *path);
/* hu_search_also of a hu_written. A file without codes of activations runs as it is written, and is not run again; one
   that would not run so is not judged. */
hu_search_also hu_written_keeps;
#endif
