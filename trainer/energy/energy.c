/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/energy/energy.h"

#include "lib/base/terminal/progress.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <string.h>

#define METER(name) extern const hu_meter hu_meter_##name;
#include "trainer/energy/meters.def"
#undef METER

static const hu_meter *const meters[] = {
#define METER(name) &hu_meter_##name,
#include "trainer/energy/meters.def"
#undef METER
	NULL
};

const hu_meter *
hu_meter_at(int i)
{
	return i >= 0 && i < (int)(sizeof meters / sizeof *meters) ? meters[i] : NULL;
}

static const hu_meter *
find(const char *name)
{
	for (int i = 0; meters[i]; i++)
		if (!strcmp(meters[i]->name, name))
			return meters[i];
	return NULL;
}

hu_status
hu_energy_open(hu_energy *e, const char *name, const char *backend)
{
	int given = strcmp(name, "auto") != 0;
	const hu_meter *m = find(given ? name : strcmp(backend, "cuda") ? "rapl" : "nvml");

	memset(e, 0, sizeof *e);
	e->now = hu_now;
	if (!strcmp(name, "none")) {
		snprintf(e->why, sizeof e->why, "switched off");
		return HU_OK;
	}
	if (!m)
		return hu_fail(HU_EINVAL, "meter '%s': auto, none, rapl (the processor's) or nvml (the GPU's)", name);
	e->state = m->open(e->what, sizeof e->what, e->why, sizeof e->why);
	if (e->state)
		e->meter = m;
	else if (given)
		return hu_fail(HU_EDEVICE, "meter %s: %s", name, e->why);
	return HU_OK;
}

void
hu_energy_close(hu_energy *e)
{
	if (e->meter)
		e->meter->close(e->state);
	e->meter = NULL;
}

double
hu_energy_read(hu_energy *e)
{
	double joules = e->meter ? e->meter->joules(e->state) : -1, now, since;

	if (!(joules >= 0))
		return -1;
	now = e->now();
	if (!e->reads++) {
		e->first = e->seen = joules;
		e->seen_at = now;
		return 0;
	}
	since = now - e->seen_at;
	if (joules != e->seen) {
		e->watts = since > 0 ? (joules - e->seen) / since : 0;
		e->seen = joules;
		e->seen_at = now;
		since = 0;
	}
	joules = e->seen - e->first + e->watts * (since < 1 ? since : 1);
	if (joules > e->said)
		e->said = joules;
	return e->said;
}

double
hu_energy_utilisation(hu_energy *e)
{
	if (!e->meter || !e->meter->utilisation || e->now() - e->asked < e->meter->period)
		return -1;
	e->asked = e->now();
	return e->meter->utilisation(e->state);
}

void
hu_energy_mark(hu_energy *e)
{
	if (!e->meter)
		return;
	if (e->meter->utilisation)
		e->meter->utilisation(e->state);
	e->asked = e->now();
}

double
hu_energy_period(const hu_energy *e)
{
	return e->meter ? e->meter->period : 0;
}
