/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/seeds.h"

#include "lib/base/mem.h"

#include <stdlib.h>

int
hu_seeds_find(const hu_seeds *s, long long seed)
{
	for (int i = 0; i < s->n; i++)
		if (s->seed[i] == seed)
			return i;
	return -1;
}

hu_status
hu_seeds_walk(hu_seeds *s, char *const *run, int runs, hu_seeds_take *take, void *to)
{
	for (int i = 0; i < runs; i++) {
		hu_run r;
		HU_TRY(hu_run_open(&r, run[i]));
		hu_status st = hu_run_finished(&r);
		if (st == HU_OK)
			st = take(to, &r, i);
		if (st == HU_OK && !i)
			hu_baseline_environment(&s->of, &r);
		hu_run_release(&r);
		HU_TRY(st);
	}
	return HU_OK;
}

void
hu_seeds_begin(hu_tsv *t, const hu_seeds *s, const char *kind, int version, const char *reason)
{
	char *key = hu_xprintf("halfulp %s", kind);

	hu_tsv_init(t);
	hu_tsv_note(t, key, "%d", version);
	hu_baseline_head(t, &s->of, reason);
	free(key);
}

hu_status
hu_seeds_end(hu_tsv *t, const char *path)
{
	hu_baseline_sign(t);
	return hu_tsv_write(t, path);
}

hu_status
hu_seeds_version(const hu_table *t, const char *kind, int version, const char *path)
{
	char *key = hu_xprintf("halfulp %s", kind);
	const char *is = hu_table_note(t, key);

	free(key);
	return is && strtol(is, NULL, 10) == version
		       ? HU_OK
		       : hu_fail(HU_EFILE, "%s: no %s of version %d", path, kind, version);
}
