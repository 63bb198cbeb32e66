/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/check_statistics.h"

#include "analyzers/drift/baseline/baseline_common.h"
#include "analyzers/drift/check/check_out.h"
#include "analyzers/drift/statistics/statistics.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

int
hu_statistics_record(const hu_args *a, const char *path)
{
	const char *reason = hu_args_text(a, "reason");
	hu_statistics s;
	hu_status st = reason ? hu_statistics_make(&s, a->rest, a->nrest)
			      : hu_fail(HU_EINVAL, "--reason TEXT is needed: why these numbers are right");

	if (st == HU_OK) {
		st = hu_statistics_write(&s, path, reason);
		if (st == HU_OK)
			printf("%d quantities of %d seeds recorded in %s\n", s.n, s.by.n, hu_shown(path));
		if (st == HU_OK && s.by.n < 5)
			printf("with fewer than 5 seeds more of what moved stays unseen\n");
		if (st == HU_OK) {
			hu_str unseen;
			hu_str_init(&unseen);
			hu_statistics_unseen(&unseen, &s);
			printf("what these statistics do not see, of candidates that train baseline seeds:\n%s",
				unseen.s);
			hu_str_release(&unseen);
		}
		hu_statistics_release(&s);
	}
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

hu_status
hu_statistics_environment(const hu_args *a, const hu_baseline *of, int any_policy, char **why)
{
	static const char *const keys[] = { "model", "dataset", "policy" };
	hu_baseline got = { 0 };
	hu_run r;
	hu_status st = hu_run_open(&r, a->rest[0]);

	if (st != HU_OK)
		return st;
	hu_baseline_environment(&got, &r);
	hu_run_release(&r);
	for (size_t i = 0; i < sizeof keys / sizeof *keys - (any_policy != 0) && st == HU_OK; i++) {
		const char *was = hu_baseline_env(of, keys[i]), *is = hu_baseline_env(&got, keys[i]);
		if (was && (!is || strcmp(was, is)))
			st = hu_fail(HU_EFILE,
				"%s is a baseline of %s %s, the run has %s: take the baseline that belongs to it",
				hu_args_text(a, "baseline"), keys[i], was, is ? is : "none");
	}
	/* Seeds of scores differ as they are to */
	for (size_t i = 0; i < got.nenv && any_policy; i++)
		if (!strcmp(got.env[i].key, "seed") && hu_baseline_env(of, "seed")) {
			free(got.env[i].value);
			got.env[i].value = hu_xstrdup(hu_baseline_env(of, "seed"));
		}
	hu_check_report report = { .want = of, .got = &got };
	*why = st == HU_OK ? hu_check_attribution(&report) : NULL;
	hu_baseline_release(&got);
	return st;
}

int
hu_check_statistics(const hu_args *a, const char *format)
{
	const char *path = hu_args_text(a, "baseline");
	hu_statistics s;
	hu_outcomes o;
	char *why = NULL;
	hu_status st = hu_statistics_read(&s, path);

	if (st != HU_OK)
		return hu_complain(st);
	st = hu_statistics_environment(a, &s.by.of, 0, &why);
	if (st == HU_OK)
		st = hu_statistics_judge(&o, &s, a->rest, a->nrest);
	hu_statistics_release(&s);
	if (st != HU_OK) {
		free(why);
		return hu_complain(st);
	}
	if (o.failed) {
		char *all = hu_xprintf("%s\n%s", o.summary, why);
		free(o.summary);
		o.summary = all;
	}
	free(why);
	hu_outcomes_decide(&o, o.failed ? hu_xprintf("%s drifted: %zu of %zu quantities fail, worst: %s",
						  hu_shown(o.of), o.failed, o.n, o.v[0].name)
					: hu_xprintf("%s holds: all %zu quantities are within what chance moves",
						  hu_shown(o.of), o.n));
	o.list = "findings";
	o.head = json_pack("{s:s s:s s:I s:I s:s}", "run", hu_shown(o.of), "baseline", hu_shown(path), "quantities",
		(json_int_t)o.n, "failed", (json_int_t)o.failed, "summary", o.summary);
	return hu_outcomes_end(&o, format);
}
