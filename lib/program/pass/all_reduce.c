/* SPDX-License-Identifier: Apache-2.0
   Reads how gradients are added over ranks. */
#include "lib/base/str.h"
#include "lib/program/pass/pass.h"

#include <string.h>

/* Returns 1 where one of the keys of a model's text is acc. */
static int
names_acc(const char *text)
{
	for (const char *key = strchr(text, ','); key; key = strchr(key + 1, ','))
		if (!strncmp(key, ",acc=", 5))
			return 1;
	return 0;
}

hu_status
hu_all_reduce_parse(const char *text, hu_all_reduce *out)
{
	memset(out, 0, sizeof *out);
	if (!strcmp(text, "tree"))
		return HU_OK;
	HU_TRY(hu_sum_parse(text, &out->sum));
	if (!hu_sum_collective(out->sum.id))
		return hu_fail(HU_EINVAL,
			"%s adds no sums of several ranks; ring:N, tree:N, halving:N, hier:N:G or tree is needed",
			hu_sum_name(out->sum.id));
	if (out->sum.n < 2)
		return hu_fail(HU_EINVAL, "%s:%d: there is nothing to add where there is one rank; say two or more",
			hu_sum_name(out->sum.id), out->sum.n);
	out->ranks = out->sum.n;
	out->own_acc = names_acc(text);
	return HU_OK;
}
