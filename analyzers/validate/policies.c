/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/policies.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The policy that a format's name stands for. */
static hu_status
of_format(hu_policy *to, const char *name, hu_format_id f)
{
	char text[160];
	int low = hu_format_of(f).bits <= 8 || f == HU_TF32;

	snprintf(text, sizeof text, "compute=%s,variable=%s,list=%s", hu_format_name(f),
		low ? "float32" : hu_format_name(f), low ? "autocast" : "all");
	HU_TRY(hu_policy_parse(text, to));
	snprintf(to->name, sizeof to->name, "%s", name);
	return HU_OK;
}

static hu_status
one(hu_policy *to, const char *text)
{
	hu_format_id f;
	const char *name = !strcmp(text, "fp8") ? "e4m3" : text;
	int preset = 0;

	for (int i = 0; hu_policy_name(i); i++)
		preset |= !strcmp(hu_policy_name(i), name);
	if (!preset && !strchr(name, '=') && !strchr(name, '/') && hu_format_find(name, &f) == HU_OK)
		return of_format(to, text, f);
	return hu_policy_parse(text, to);
}

hu_status
hu_policies_add(hu_policy **list, size_t *n, size_t *cap, const char *text)
{
	char *all = hu_xstrdup(text), *save = NULL, *whole = NULL;
	hu_status st = HU_OK;

	for (char *s = strtok_r(all, ",", &save); st == HU_OK && (s || whole); s = strtok_r(NULL, ",", &save)) {
		if (s && whole && strchr(s, '=') && strncmp(s, "compute=", 8)) {
			char *more = hu_xprintf("%s,%s", whole, s);
			free(whole);
			whole = more;
			continue;
		}
		if (whole) {
			HU_GROW(*list, *n, *cap);
			st = one(&(*list)[*n], whole);
			*n += st == HU_OK;
			free(whole);
		}
		whole = s ? hu_xstrdup(s) : NULL;
		if (!s)
			break;
	}
	if (st == HU_OK && whole) {
		HU_GROW(*list, *n, *cap);
		st = one(&(*list)[*n], whole);
		*n += st == HU_OK;
	}
	free(whole);
	free(all);
	return st;
}
