/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_commands.h"

#include "analyzers/drift/files/files_out.h"
#include "analyzers/drift/files/files_text.h"
#include "lib/base/guard/input.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int
is_folder(const char *path)
{
	struct stat st;

	return path && !hu_input_stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Whether PATH is there and is none of the files that bless RUNs: what is held to it is then a file as well, although
   it may be missing. */
static int
is_of_anyone(const char *path)
{
	static const char ours[] = "# halfulp ";
	char head[sizeof ours] = "";
	FILE *f;

	if (!path || !hu_exists(path) || is_folder(path) || hu_input_open(path, &f) != HU_OK)
		return 0;
	size_t got = fread(head, 1, sizeof head - 1, f);
	fclose(f);
	return got < sizeof ours - 1 || memcmp(head, ours, got);
}

int
hu_files_are(const char *new, const char *old)
{
	return is_folder(old) || (new && !is_folder(new) && (hu_exists(new) || is_of_anyone(old)));
}

/* A baseline that halfulp baseline wrote, told by its first line. */
static int
is_baseline(const char *path)
{
	static const char first[] = "# halfulp baseline: ";
	char head[sizeof first] = "";
	FILE *f;

	if (hu_input_open(path, &f) != HU_OK)
		return 0; /* whoever reads it whole says why */
	size_t got = fread(head, 1, sizeof head - 1, f);
	fclose(f);
	return got == sizeof first - 1 && !memcmp(head, first, got);
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
		HU_TRY(hu_rules_add(r, "--rule", text, HU_EINVAL));
	return hu_args_given(a, "rules") ? hu_rules_read(r, hu_args_text(a, "rules")) : HU_OK;
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
	if (st == HU_OK && is_baseline(old))
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
