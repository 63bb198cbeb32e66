/* SPDX-License-Identifier: Apache-2.0
   The instruction sets that a benchmark is asked for. */
#include "lib/base/mem.h"
#include "lib/base/parts/parts.h"
#include "lib/number/simd.h"
#include "trainer/bench/bench.h"

#include <stdlib.h>
#include <string.h>

/* Sets *level to what an instruction set's name stands for. "auto" is the widest that this processor has. */
static hu_status
find(hu_simd *level, const char *name)
{
	for (int l = 0; l < HU_SIMDS && hu_parts_offered(); l++)
		if (!strcmp(hu_simd_name_of((hu_simd)l), name)) {
			*level = (hu_simd)l;
			return HU_OK;
		}
	HU_TRY(hu_simd_set(name));
	*level = hu_simd_level();
	return HU_OK;
}

hu_status
hu_bench_levels(char *levels, const char *text)
{
	hu_status st = HU_OK;
	hu_simd level;

	memset(levels, 0, HU_SIMDS);
	if (!text) {
		levels[hu_simd_level()] = 1;
		return HU_OK;
	}
	if (!strcmp(text, "all")) {
		for (int l = 0; l < HU_SIMDS; l++)
			levels[l] = (char)hu_simd_has((hu_simd)l);
		return HU_OK;
	}
	char *all = hu_xstrdup(text), *save = NULL;
	for (char *w = strtok_r(all, ",", &save); w && st == HU_OK; w = strtok_r(NULL, ",", &save))
		if ((st = find(&level, w)) == HU_OK)
			levels[level] = 1;
	free(all);
	if (st == HU_OK && !memchr(levels, 1, HU_SIMDS))
		st = hu_fail(HU_EINVAL, "--backend simd=: a list is needed");
	return st;
}

char *
hu_bench_levels_text(const char *levels)
{
	hu_str s;

	hu_str_init(&s);
	for (int l = 0; l < HU_SIMDS; l++)
		if (levels[l])
			hu_str_addf(&s, "%s%s", s.len ? "," : "", hu_simd_name_of((hu_simd)l));
	return s.s;
}
