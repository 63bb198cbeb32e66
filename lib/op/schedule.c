/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/schedule.h"

#include "lib/base/str.h"

#include <string.h>

static const hu_schedule_row rows[] = {
#define SCHEDULE(name, reads, summary) { #name, reads, summary },
#include "lib/op/schedules.def"
#undef SCHEDULE
};

const hu_schedule_row *
hu_schedule_at(int i)
{
	return i >= 0 && i < HU_SCHEDULES ? &rows[i] : NULL;
}

hu_status
hu_schedule_find(const char *name, hu_schedule_rule *out)
{
	const char *names[HU_SCHEDULES];

	for (int i = 0; i < HU_SCHEDULES; i++) {
		names[i] = rows[i].name;
		if (!strcmp(rows[i].name, name)) {
			*out = (hu_schedule_rule)i;
			return HU_OK;
		}
	}
	const char *near = hu_nearest(name, names, HU_SCHEDULES);
	return hu_fail(HU_EINVAL, "unknown schedule '%s'%s%s; there are"
#define SCHEDULE(name, reads, summary) " " #name
#include "lib/op/schedules.def"
#undef SCHEDULE
		, name, near ? "; did you mean " : "", near ? near : "");
}

hu_lr_schedule
hu_schedule_of(const hu_call *c)
{
	hu_lr_schedule s = { .lr = hu_attr_num(c, "lr", 1e-3), .lr_end = hu_attr_num(c, "lr_end", 0),
		.decay_rate = hu_attr_num(c, "decay_rate", 0.1), .warmup = hu_attr_num(c, "warmup", 0),
		.decay_steps = hu_attr_num(c, "decay_steps", 1) };

	HU_ASSERT(hu_schedule_find(hu_attr_text(c, "schedule", "constant"), &s.rule) == HU_OK);
	return s;
}
