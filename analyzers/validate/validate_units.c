/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/validate_units.h"

#include "lib/base/mem.h"
#include "lib/base/parts/pack.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

static hu_status
compute(void *of, int i, hu_str *found)
{
	hu_validate_job *j = of;
	const hu_validate_unit *u = &j->unit[i];

	switch (u->kind) {
	case HU_VALIDATE_RUN: return hu_validate_run_compute(j, u, found);
	case HU_VALIDATE_EXACT: return hu_validate_exact_compute(j, u->first, found);
	case HU_VALIDATE_SURVEY:
	case HU_VALIDATE_ALONE: return hu_validate_nodes_compute(j, u, found);
	}
	HU_ASSERT(!"a unit of validate has one of the four kinds");
}

static hu_status
merge(void *of, int i, const char *found)
{
	hu_validate_job *j = of;
	const hu_validate_unit *u = &j->unit[i];

	switch (u->kind) {
	case HU_VALIDATE_RUN: return hu_validate_run_merge(j, u, found);
	case HU_VALIDATE_EXACT: return hu_validate_exact_merge(j, u->first, found);
	case HU_VALIDATE_SURVEY:
	case HU_VALIDATE_ALONE: return hu_validate_nodes_merge(j, u, found);
	}
	HU_ASSERT(!"a unit of validate has one of the four kinds");
}

static char *
name_of(const void *of, int i)
{
	const hu_validate_job *j = of;
	const hu_validate_unit *u = &j->unit[i];

	switch (u->kind) {
	case HU_VALIDATE_RUN: return hu_xprintf("%zu.%zu", u->policy, u->first);
	case HU_VALIDATE_EXACT: return hu_xprintf("exact.%zu.%zu", j->d->output, u->first);
	case HU_VALIDATE_SURVEY: return hu_xprintf("%zu.nodes.%zu", u->policy, j->surveyed);
	case HU_VALIDATE_ALONE: return hu_xprintf("%zu.nodes.%zu.%zu.%zu", u->policy, j->surveyed, u->batch, u->first);
	}
	HU_ASSERT(!"a unit of validate has one of the four kinds");
}

hu_status
hu_validate_share(hu_validate_job *j, hu_sharing *s, hu_status st, int *ends)
{
	st = hu_network_parts_init(&j->parts, &j->work, "validate", hu_args_text(j->args, "report"), j->args,
		"labels accept output top-k sensitivity sensitivity-inputs exact outputs report tap", st);
	if (st == HU_OK)
		st = hu_validate_cut(j);
	j->work.cost = j->cost;
	j->work.group = j->policy;
	j->work.name = name_of;
	j->work.compute = compute;
	j->work.merge = merge;
	j->work.ready = hu_validate_exact_ready;
	j->work.of = j;
	return hu_share_out(s, &j->work, j->args, st, ends);
}

void
hu_validate_job_release(hu_validate_job *j)
{
	hu_sensitivity_run_close(j->sensing);
	hu_exact_trial_close(j->trial);
	if (j->one.p)
		hu_imported_release(&j->one);
	free(j->unit);
	free(j->cost);
	free(j->policy);
	hu_network_parts_release(&j->parts);
}
