/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/compare_patterns.h"

#include "lib/base/mem.h"
#include "trainer/run/build.h"
#include "trainer/run/idle.h"

#include <stdlib.h>
#include <string.h>

static int
has_patterns(const hu_args *a)
{
	return hu_args_given(a, "optimizer:no_decay") || hu_args_given(a, "trace") || hu_args_given(a, "count");
}

static hu_status
programs_of(hu_programs *p, const hu_config *c)
{
	hu_dataset data;

	HU_TRY(hu_config_dataset(c, 1, &data));
	hu_model_sizes sizes = hu_config_sizes(c, &data);
	hu_status st = hu_build(p, c, &sizes);
	hu_dataset_release(&data);
	return st;
}

hu_status
hu_compare_patterns_check(const hu_comparison *c, const hu_args *a)
{
	hu_programs *p = hu_xcalloc((size_t)c->policies, sizeof *p);
	const hu_program **train = hu_xcalloc((size_t)c->policies, sizeof *train);
	hu_status st = HU_OK;
	hu_config run;
	int n = 0;

	for (int known = has_patterns(a); known && n < c->policies;) {
		st = hu_compare_config(&run, a, hu_compare_policy(c, n));
		if (st != HU_OK)
			break;
		known = programs_of(&p[n], &run) == HU_OK;
		if (known)
			train[n] = p[n].train, n++;
		if (known && n == c->policies)
			st = hu_idle_patterns_among(&run, train, n);
		hu_config_release(&run);
	}
	for (int i = 0; i < n; i++)
		hu_programs_release(&p[i]);
	free(train);
	free(p);
	return st;
}

static void
narrow(const hu_args *a, const char *option, char **patterns, const hu_program *train)
{
	if (!hu_args_given(a, option))
		return;
	char *some = hu_idle_fitting(option, *patterns, train);
	free(*patterns);
	*patterns = some;
}

int
hu_compare_patterns_narrow(hu_config *run, const hu_args *a)
{
	int records = run->trace_steps && strcmp(run->trace_steps, "none");
	hu_programs p;

	if (!has_patterns(a) || programs_of(&p, run) != HU_OK)
		return 1;
	narrow(a, "optimizer:no_decay", &run->no_decay, p.train);
	narrow(a, "trace", &run->trace, p.train);
	narrow(a, "count", &run->count, p.train);
	hu_programs_release(&p);
	if (!records || !hu_args_given(a, "trace") || *run->trace)
		return 1;
	free(run->trace_steps);
	run->trace_steps = hu_xstrdup("none");
	return 0;
}
