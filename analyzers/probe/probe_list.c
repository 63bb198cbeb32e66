/* SPDX-License-Identifier: Apache-2.0
   The rows that a probe of a matrix unit fills in: what was asked, what came out, what the model says. */
#include "analyzers/probe/probe_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static hu_probe *
add(hu_probe_list *l, const char *name, const char *what, hu_probe_result result)
{
	hu_probe *p = &l->to[l->n++];

	HU_ASSERT(l->n <= HU_PROBES);
	snprintf(p->name, sizeof p->name, "%s", name);
	snprintf(p->what, sizeof p->what, "%s", what);
	p->result = result;
	p->want[0] = 0;
	return p;
}

void
hu_probe_number(hu_probe_list *l, const char *name, const char *what, double got, double want)
{
	if (isnan(got) || isnan(want)) /* the model cannot represent the operands, or nobody tabled a value */
		return;
	hu_probe *p = add(l, name, what, got == want ? HU_PROBE_PASS : HU_PROBE_FAIL);
	snprintf(p->got, sizeof p->got, "%a", got);
	snprintf(p->want, sizeof p->want, "%a", want);
}

void
hu_probe_count(hu_probe_list *l, const char *name, const char *what, int got, int want)
{
	hu_probe *p = add(l, name, what, got == want ? HU_PROBE_PASS : HU_PROBE_FAIL);

	snprintf(p->got, sizeof p->got, "%d", got);
	snprintf(p->want, sizeof p->want, "%d", want);
}

/* Adds an answer that is a number; `want` is -1 where nobody tabled it. */
void
hu_probe_found(hu_probe_list *l, const char *name, const char *what, int got, int want)
{
	hu_probe_count(l, name, what, got, want);
	if (want >= 0)
		return;
	l->to[l->n - 1].want[0] = 0;
	l->to[l->n - 1].result = HU_PROBE_OPEN;
}

void
hu_probe_code(hu_probe_list *l, const char *name, const char *what, uint32_t got, const char *want)
{
	hu_probe *p = add(l, name, what, HU_PROBE_OPEN);

	snprintf(p->got, sizeof p->got, "0x%08x", got);
	if (!want)
		return;
	snprintf(p->want, sizeof p->want, "%s", want);
	p->result = strcmp(p->got, want) ? HU_PROBE_FAIL : HU_PROBE_PASS;
}
