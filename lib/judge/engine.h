/* SPDX-License-Identifier: Apache-2.0
   Who says what the exact value is. An engine fills EXACT for N elements of
   output OUT of a call; the judge does the rest. To add one is a row in engine.c. */
#ifndef HU_ANALYZERS_ENGINE_H
#define HU_ANALYZERS_ENGINE_H

#include "lib/op/op.h"
#include "lib/op/sink.h"

typedef struct hu_engine {
	const char *name, *summary;
	int enclose;        /* enclosures in doubles decide what they can, and only the rest comes here */
	int products;       /* instead, whole products come from the exact product of matrices, every output of them
			       (lib/exact/gemm.h) */
	int throughout;     /* the exact step uses it for every value too, not only to judge a sample */
	/* As hu_op.reference: elements ascending, exact[] initialised by the caller. */
	hu_status (*exact)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);
} hu_engine;

/* Finds an engine and puts it in force; HU_EINVAL names the known ones. */
hu_status hu_engine_find(const char *name, const hu_engine **out);
#endif
