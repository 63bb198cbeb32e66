/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/scaler.h"

#include "lib/base/str.h"

#include <string.h>

static const hu_scaler rows[] = {
#define SCALER(name, init, growth, backoff, interval, floor, cap, hysteresis, wide, reads) \
	{ #name, init, growth, backoff, interval, floor, cap, hysteresis, wide, reads },
#include "lib/op/scalers.def"
#undef SCALER
};

const hu_scaler *
hu_scaler_at(int i)
{
	return i >= 0 && i < HU_SCALERS ? &rows[i] : NULL;
}

hu_status
hu_scaler_find(const char *name, hu_scaler *out)
{
	const char *names[HU_SCALERS];

	for (int i = 0; i < HU_SCALERS; i++) {
		names[i] = rows[i].name;
		if (!strcmp(rows[i].name, name)) {
			*out = rows[i];
			return HU_OK;
		}
	}
	const char *near = hu_nearest(name, names, HU_SCALERS);
	return hu_fail(HU_EINVAL,
		"unknown loss-scale rule '%s'%s%s; known: none, static, pytorch, keras, apex, deepspeed", name,
		near ? "; did you mean " : "", near ? near : "");
}
