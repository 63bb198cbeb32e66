/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_commands.h"

#include "analyzers/drift/contents/kind.h"
#include "analyzers/drift/files/files_out.h"
#include "analyzers/drift/files/files_text.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/file.h"

/* Where the baseline is a file of anyone's, what is held to it is a file as well, although it may be missing. */
int
hu_files_are(const char *new, const char *old)
{
	hu_kind of = hu_kind_of(old);

	return of == HU_KIND_RUN || (new && !hu_kind_is_folder(new) && (hu_exists(new) || of == HU_KIND_FILE));
}

static int
has_series(const hu_contents *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->item[i].kind == HU_ITEM_SERIES)
			return 1;
	return 0;
}

/* Opens and judges. */
static hu_status
judge(hu_files *g, const hu_args *a, const char *old, const char *new)
{
	HU_TRY(hu_files_open(g, old, new, hu_args_text(a, "step")));
	if (hu_args_given(a, "step") && !has_series(&g->old))
		return hu_refuse("step", "where no metrics are compared");
	return hu_files_judge(g);
}

static hu_status
read_rules(hu_rules *r, const hu_args *a)
{
	const char *text;

	for (int k = 0; (text = hu_args_nth(a, "rule", k)); k++)
		if (*text != '@')
			HU_TRY(hu_rules_add(r, "--rule", text, HU_EINVAL));
	for (int k = 0; (text = hu_args_nth(a, "rule", k)); k++)
		if (*text == '@')
			HU_TRY(hu_rules_read(r, text + 1));
	return HU_OK;
}

int
hu_files_check(const hu_args *a, const char *new, const char *old, const char *format)
{
	hu_files g = { .n = 0 };
	hu_outcomes v;
	hu_status st = read_rules(&g.rules, a);

	if (st == HU_OK && !hu_exists(old))
		st = hu_fail(HU_EFILE, "%s is not there; where %s is right, it becomes the baseline: cp %s %s", old,
			new, new, old);
	if (st == HU_OK && hu_kind_of(old) == HU_KIND_BASELINE)
		st = hu_fail(HU_EFILE, "%s is the baseline of a run, and %s is no run: halfulp check RUN --baseline %s",
			old, new, old);
	if (st == HU_OK)
		st = judge(&g, a, old, new);
	if (st != HU_OK) {
		hu_files_release(&g);
		return hu_complain(st);
	}
	hu_files_outcomes(&v, &g);
	int code = hu_outcomes_end(&v, format);
	hu_files_release(&g);
	return code;
}

int
hu_files_diff(const hu_args *a, const char *old, const char *new)
{
	hu_files g = { .n = 0 };
	hu_status st = judge(&g, a, old, new);

	if (st == HU_OK)
		st = hu_files_bias(&g);
	if (st != HU_OK) {
		hu_files_release(&g);
		return hu_complain(st);
	}
	int code = hu_files_differing(&g) ? HU_EXIT_JUDGED : HU_EXIT_OK;
	if (hu_args_given(a, "json"))
		hu_files_json(&g);
	else
		hu_files_table(&g, hu_args_given(a, "all"));
	hu_files_release(&g);
	return code;
}
