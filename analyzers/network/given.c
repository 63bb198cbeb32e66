/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/given.h"

#include "lib/base/show.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_given_parse(hu_given *g, char *text)
{
	char *eq = strrchr(text, '='), *s, *end;

	*g = (hu_given){ .name = text };
	if (!eq || eq == text)
		return hu_fail(HU_EINVAL, "--shape '%s': NAME=N gives an open dimension, NAME=2x3x4 an input's shape",
			hu_shown(text));
	int crosses = strchr(eq, 'x') != NULL;
	for (s = eq + 1; *s; s = *end ? end + 1 : end) {
		long long n = *s >= '0' && *s <= '9' ? strtoll(s, &end, 10) : 0;
		if (n < 1 || n > 1 << 30 || (*end && *end != 'x') || g->rank == HU_RANK)
			return hu_fail(HU_EINVAL, "--shape '%s': sizes are whole numbers from 1 on, at most %d of them",
				hu_shown(text), HU_RANK);
		g->d[g->rank++] = (size_t)n;
	}
	if (!g->rank)
		return hu_fail(HU_EINVAL, "--shape '%s': there is no size behind the =", hu_shown(text));
	if (!crosses)
		g->rank = 0;
	*eq = 0;
	return HU_OK;
}
