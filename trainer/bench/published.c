/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/bench/published.h"

#include <math.h>
#include <string.h>

static const hu_published rows[] = {
#define NONE NAN
#define PUBLISHED(source, model, image, device, batch, policy, ms, memory_mb, watts, note)                             \
	{ source, model, image, device, batch, policy, ms, memory_mb, watts, note },
#include "trainer/bench/published.def"
#undef PUBLISHED
#undef NONE
};

const hu_published *
hu_published_at(size_t i)
{
	return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

double
hu_published_ratio(const hu_published *r)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows && *r->policy; i++)
		if (!strcmp(rows[i].policy, "float32") && rows[i].batch == r->batch &&
			!strcmp(rows[i].device, r->device) && !strcmp(rows[i].source, r->source))
			return r->ms / rows[i].ms;
	return NAN;
}
