/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/contents/kind.h"

#include "lib/base/guard/input.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The first that a file begins with counts. */
static const struct {
	const char *head;
	hu_kind kind;
} heads[] = { { "# halfulp baseline: ", HU_KIND_BASELINE }, { "# halfulp statistics: ", HU_KIND_STATISTICS },
	{ "# halfulp scores: ", HU_KIND_SCORES }, { "# halfulp ", HU_KIND_OURS } };

int
hu_kind_is_folder(const char *path)
{
	struct stat st;

	return path && !hu_input_stat(path, &st) && S_ISDIR(st.st_mode);
}

hu_kind
hu_kind_of(const char *path)
{
	char found[32];
	FILE *f;

	if (hu_kind_is_folder(path))
		return HU_KIND_RUN;
	if (!path || hu_input_open(path, &f) != HU_OK)
		return HU_KIND_NONE;
	size_t got = fread(found, 1, sizeof found, f);
	fclose(f);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		size_t n = strlen(heads[i].head);
		if (got >= n && !memcmp(found, heads[i].head, n))
			return heads[i].kind;
	}
	return HU_KIND_FILE;
}
