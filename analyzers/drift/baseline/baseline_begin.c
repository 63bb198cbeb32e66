/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/baseline_begin.h"

#include "analyzers/drift/baseline/baseline_program.h"
#include "lib/base/mem.h"
#include "lib/store/safetensors.h"

#include <stdlib.h>
#include <string.h>

#define BEGIN "begin/"
#define OUTPUT "output/"

/* FNV-1a over bytes. */
static uint64_t
digest(const unsigned char *data, size_t n)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ data[i]) * 1099511628211u;
	return h;
}

hu_status
hu_baseline_collect_begin(hu_baseline *b, const hu_run *r)
{
	hu_safetensors s;

	if (!r->nstep || r->step[0] != 0)
		return HU_OK;
	char *path = hu_run_trace_path(r, 0);
	hu_status st = hu_safetensors_open(&s, path);
	free(path);
	HU_TRY(st);
	for (size_t i = 0; i < s.n; i++) {
		int id = hu_program_find(r->train, s.tensor[i].name);
		if (id < 0)
			continue;
		char *key = hu_xprintf("%s%s/digest", r->train->t[id].producer < 0 ? BEGIN : OUTPUT, s.tensor[i].name),
		     *text = hu_xprintf("0x%016llx", (unsigned long long)digest(s.tensor[i].data, s.tensor[i].bytes));
		hu_baseline_add(b, key, text, HU_SIDE_BOTH, HU_FP64);
		free(key);
		free(text);
	}
	hu_safetensors_release(&s);
	return HU_OK;
}

size_t
hu_begin_add_cause(hu_str *o, const hu_finding *f, size_t n)
{
	const char *first[2] = { NULL, NULL };
	size_t count[2] = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		const char *key = (f[i].want ? f[i].want : f[i].got)->key;
		if (f[i].held != HU_DRIFT || strncmp(key, BEGIN, strlen(BEGIN)))
			continue;
		int batch = !strncmp(key + strlen(BEGIN), "input.", 6);
		first[batch] = count[batch]++ ? first[batch] : key + strlen(BEGIN);
	}
	for (int batch = 1; batch >= 0; batch--) {
		if (!count[batch])
			continue;
		hu_str_addf(o, "%s%s: %.*s", count[1] && !batch ? "; " : "",
			batch ? "another batch in step 0, though the data are the same: which samples are drawn, or "
				"how they are put together"
			      : "other values that the training began with, as they are drawn or loaded",
			(int)strcspn(first[batch], "/"), first[batch]);
		if (count[batch] > 1)
			hu_str_addf(o, " (and %zu more)", count[batch] - 1);
	}
	return count[0] + count[1];
}

int
hu_begin_add_call(hu_str *o, const hu_finding *f, size_t n, const hu_baseline *got)
{
	const hu_baseline_quantity *first = NULL;
	char *result = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *key = (f[i].want ? f[i].want : f[i].got)->key, *tensor = key + strlen(OUTPUT);
		if (f[i].held != HU_DRIFT || strncmp(key, OUTPUT, strlen(OUTPUT)))
			continue;
		char *name = hu_xprintf("%.*s", (int)strcspn(tensor, "/"), tensor);
		const hu_baseline_quantity *q = hu_program_row_of(got, name);
		/* Of several results of one call the one that its row is named after */
		if (q && q->call >= 0 &&
			(!first || q->call < first->call ||
				(q->call == first->call && !strcmp(strrchr(q->key, '/') + 1, name)))) {
			first = q;
			free(result);
			result = name;
		} else {
			free(name);
		}
	}
	if (first)
		hu_str_addf(o,
			"the arithmetic of call %d %.*s (%s): settings, data, seed, programs and version are the same, "
			"and it is the first call of step 0 whose result has other bits",
			first->call, (int)strcspn(first->text, " "), first->text, result);
	free(result);
	return first != NULL;
}
