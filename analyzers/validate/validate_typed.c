/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/validate_typed.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/console/show.h"

#include <string.h>

static const struct runtime {
	const char *name;
	hu_typing typing;
} known[] = { { "strict", HU_TYPING_STRICT }, { "ort-cpu", HU_TYPING_ORT_CPU } };

hu_status
hu_validate_runtime(hu_validate_typed *t, const hu_args *a)
{
	const char *text = hu_args_text(a, "runtime");

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].name, text)) {
			t->typing = known[i].typing;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "--runtime '%s' is not known; known: strict, ort-cpu", hu_shown(text));
}

hu_status
hu_validate_typed_add(hu_validate_typed *t, const hu_network *n, hu_variants *policies, const hu_args *a)
{
	if (!n->m.narrow)
		return hu_args_given(a, "runtime")
			       ? hu_refuse("runtime", "where the file has nothing in float16 or bfloat16")
			       : HU_OK;
	HU_TRY(hu_network_typed(n, &t->m, &n->onnx, t->typing));
	hu_variants_add_model(policies, "as typed", &t->m);
	hu_variant typed = policies->v[policies->n - 1];
	memmove(&policies->v[2], &policies->v[1], (policies->n - 2) * sizeof typed);
	policies->v[1] = typed;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		t->runtime = known[i].typing == t->typing ? known[i].name : t->runtime;
	return HU_OK;
}

void
hu_validate_typed_release(hu_validate_typed *t)
{
	hu_imported_release(&t->m);
}
