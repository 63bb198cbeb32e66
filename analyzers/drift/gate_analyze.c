/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/gate_analyze.h"

#include "lib/base/mem.h"
#include "lib/base/file.h"

#include <stdlib.h>
#include <sys/stat.h>

/* What tells a file from the one that had its name before: a new one has another number or another time. */
typedef struct witness {
	int there;
	struct stat s;
} witness;

static witness
look(const char *run)
{
	char *path = hu_path(run, "analysis/summary.json");
	witness w = { 0 };

	w.there = !lstat(path, &w.s);
	free(path);
	return w;
}

hu_status
hu_gate_analyze(const char *run, hu_command_end *end)
{
	char *argv[] = { "analyze", "--", (char *)run, NULL };
	witness before = look(run);

	HU_TRY(hu_command_run(end, 3, argv, -1, 1));
	witness after = look(run);
	if (end->code <= HU_EXIT_JUDGED &&
		!(after.there && !(before.there && before.s.st_ino == after.s.st_ino &&
					 before.s.st_mtim.tv_sec == after.s.st_mtim.tv_sec &&
					 before.s.st_mtim.tv_nsec == after.s.st_mtim.tv_nsec))) {
		free(end->reason);
		return hu_fail(HU_EUNABLE,
			"%s: halfulp analyze ended without a verdict (analysis/summary.json is not new), so that "
			"nothing is checked: run it by itself to see why",
			run);
	}
	return HU_OK;
}
