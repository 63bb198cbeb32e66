/* SPDX-License-Identifier: Apache-2.0
   The engines that compute exact values. An engine fills exact for n elements of output out of a call; judge.c does the
   rest. Each engine is a row in engine.c. */
#ifndef HU_JUDGE_ENGINE_H
#define HU_JUDGE_ENGINE_H

#include "lib/op/op.h"
#include "lib/op/sink.h"

typedef struct hu_engine {
	const char *name, *summary;
	int enclose;        /* enclosures in doubles decide what they can; the engine computes only the rest */
	/* instead of enclosures, whole products are computed by the exact matrix product (lib/exact/gemm.h) */
	int products;
	int throughout;     /* the exact step uses it for every value too, not only to check a sample */
	/* As the column reference of hu_columns: elements are ascending, the caller initialises exact[]. */
	hu_status (*exact)(
		const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);
} hu_engine;

/* Finds an engine, on any thread. */
hu_status hu_engine_named(const char *name, const hu_engine **out);
/* Finds an engine and makes it the one in use; HU_EINVAL lists the known ones. */
hu_status hu_engine_find(const char *name, const hu_engine **out);
#endif
