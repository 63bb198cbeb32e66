/* SPDX-License-Identifier: Apache-2.0
   The names of summation models, and what follows them (sums.def). */
#include "lib/sum/model/run.h"

#include "lib/base/str.h"

static const struct {
	const char *name;
	hu_sum_takes takes;
} rows[] = {
#define SUM(id, file, takes, result) { #file, HU_TAKES_##takes },
#include "lib/sum/sums.def"
#undef SUM
};

int
hu_sum_collective(hu_sum_id id)
{
	return hu_sum_result_of(id) == HU_RESULT_WIRE;
}
const char *
hu_sum_name(hu_sum_id id)
{
	return rows[id].name;
}
hu_sum_takes
hu_sum_takes_of(hu_sum_id id)
{
	return rows[id].takes;
}

/* Returns what stands behind a model's name in a list of models. */
static const char *
behind(hu_sum_takes takes)
{
	switch (takes) {
	case HU_TAKES_NOTHING:
	case HU_TAKES_INTEGERS: return "";
	case HU_TAKES_LENGTH:
	case HU_TAKES_SLICES:
	case HU_TAKES_RANKS: return ":N";
	case HU_TAKES_ARCH: return ":ARCH";
	case HU_TAKES_NODES: return ":N:G";
	}
	return "";
}

void
hu_sum_names(hu_str *to)
{
	for (int i = 0; i < HU_SUMS; i++)
		hu_str_addf(to, "%s%s%s", i ? ", " : "", rows[i].name, behind(rows[i].takes));
}
