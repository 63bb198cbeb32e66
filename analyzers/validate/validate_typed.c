/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/validate_typed.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/import/tool/tool.h"

#include <stdlib.h>
#include <string.h>

static const struct runtime {
	const char *name;
	hu_typing typing;
	int fused;
} known[] = {
	{ "strict", HU_TYPING_STRICT, 0 },
	{ "ort-cpu:disable_all", HU_TYPING_ORT_CPU, 0 },
	{ "ort-cpu:basic", HU_TYPING_ORT_CPU, 1 },
	{ "ort-cpu:extended", HU_TYPING_ORT_CPU, 2 },
	{ "ort-cpu:all", HU_TYPING_ORT_CPU, 2 },
};

hu_status
hu_validate_runtime(hu_validate_typed *t, const hu_args *a)
{
	const char *text = hu_args_text(a, "runtime"), *pairs = strstr(text, ":pairs16");
	size_t n = pairs && !pairs[strlen(":pairs16")] ? (size_t)(pairs - text) : strlen(text);
	int is_default = n == strlen("ort-cpu") && !strncmp(text, "ort-cpu", n);

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const char *name = is_default ? "ort-cpu:all" : text;
		size_t length = is_default ? strlen(name) : n;
		if (strlen(known[i].name) != length || strncmp(known[i].name, name, length) != 0)
			continue;
		if (text[n] && known[i].typing != HU_TYPING_ORT_CPU)
			break;
		t->typing = known[i].typing;
		t->fused = known[i].fused;
		t->pairs16 = text[n] != 0;
		t->asked = text[n] ? text : known[i].name;
		return HU_OK;
	}
	return hu_fail(HU_EINVAL,
		"--runtime '%s' is not known; known: strict, and ort-cpu with disable_all, basic, extended or all "
		"behind a colon, then also pairs16",
		hu_shown(text));
}

/* The model's own file, as the second policy. */
static hu_status
add_own(hu_validate_typed *t, const hu_network *n, hu_variants *policies)
{
	t->file = n->onnx;
	if (t->fused && hu_against_has_codes(&n->onnx)) {
		HU_TRY(hu_tool_fuse(&t->fuses, &n->onnx, t->fused > 1));
		t->file = t->fuses;
	}
	t->file.ort = t->typing == HU_TYPING_ORT_CPU;
	t->file.optimised = t->fused > 0;
	t->file.pairs16 = t->pairs16;
	if (n->each) {
		hu_variants_add_file(policies, "as typed", &t->file, t->typing);
	} else {
		HU_TRY(hu_network_typed(n, &t->m, &t->file, t->typing));
		hu_variants_add_model(policies, "as typed", &t->m);
	}
	hu_variant typed = policies->v[policies->n - 1];
	memmove(&policies->v[2], &policies->v[1], (policies->n - 2) * sizeof typed);
	policies->v[1] = typed;
	t->own = 1;
	return HU_OK;
}

/* The end of a path that fits a policy's name. */
static const char *
short_name(const char *path)
{
	size_t n = strlen(path), most = sizeof((hu_variant *)NULL)->name - 1;

	return n > most ? path + n - most : path;
}

static hu_status
add_against(hu_validate_typed *t, const hu_network *n, hu_variants *policies, const hu_args *a)
{
	const char *path;

	t->against = hu_xcalloc((size_t)hu_args_given(a, "against") + 1, sizeof *t->against);
	for (int i = 0; (path = hu_args_nth(a, "against", i)); i++) {
		for (int k = 0; k < i; k++)
			if (!strcmp(hu_args_nth(a, "against", k), path))
				return hu_fail(HU_EINVAL, "--against %s is given twice", hu_shown(path));
		HU_TRY(hu_against_open(&t->against[t->nagainst++], path, n, t->typing, t->fused, t->pairs16));
		if (n->each)
			hu_variants_add_file(policies, short_name(path), &t->against[i].onnx, t->typing);
		else
			hu_variants_add_model(policies, short_name(path), &t->against[i].m);
	}
	return HU_OK;
}

hu_status
hu_validate_typed_add(hu_validate_typed *t, const hu_network *n, hu_variants *policies, const hu_args *a)
{
	int given = hu_args_given(a, "runtime") > 0,
	    concerns = n->m.narrow || (given && hu_against_has_codes(&n->onnx));

	if (concerns)
		HU_TRY(add_own(t, n, policies));
	HU_TRY(add_against(t, n, policies, a));
	for (size_t i = 0; i < t->nagainst; i++)
		concerns |= t->against[i].m.narrow || t->against[i].codes;
	if (!concerns)
		return given ? hu_refuse("runtime", "where no file has float16, bfloat16 or codes") : HU_OK;
	t->runtime = t->asked;
	return HU_OK;
}

hu_status
hu_validate_typed_tools(hu_validate_typed *t, hu_network *n, const hu_variants *policies)
{
	t->against = hu_xrealloc(t->against, (t->nagainst + policies->n + 1) * sizeof *t->against);
	for (size_t i = 0; i < policies->n; i++)
		if (policies->v[i].tool)
			HU_TRY(hu_against_tool(
				&t->against[t->nagainst++], policies->v[i].name, n, policies->v[i].tool));
	return HU_OK;
}

void
hu_validate_typed_release(hu_validate_typed *t)
{
	for (size_t i = 0; i < t->nagainst; i++)
		hu_against_release(&t->against[i]);
	free(t->against);
	hu_imported_release(&t->m);
	hu_onnx_release(&t->fuses);
}
