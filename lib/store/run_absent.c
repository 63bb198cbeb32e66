/* SPDX-License-Identifier: Apache-2.0
   What is said of a folder that is no run which can be read: it may be the folder of several ranks, a recording that
   keeps no tensors, or one that recorded no step. */
#include "lib/base/file.h"
#include "lib/store/run.h"

#include <string.h>

int
hu_run_is_of_ranks(const char *dir)
{
	return !hu_exists_in(dir, "manifest.json") && hu_exists_in(dir, "rank-0/manifest.json");
}

hu_status
hu_run_absent(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	if (hu_run_is_of_ranks(dir))
		return hu_fail(HU_EFILE, "%s: each rank recorded a run of its own there: name one, such as %s/rank-0",
			dir, dir);
	if (!hu_exists(dir) && strchr(slash ? slash : dir, '.')) /* a name with a suffix is meant to be a file's */
		return hu_fail(HU_EFILE, "%s: neither a file nor a run is there", dir);
	if (!hu_exists_in(dir, "manifest.json"))
		return hu_fail(HU_EFILE,
			"%s: no run is there (no manifest.json); halfulp train makes one, and halfulp_trace one once "
			"it has "
			"recorded a whole step",
			dir);
	if (hu_exists_in(dir, "tensors.tsv"))
		return hu_fail(HU_EFILE,
			"%s: a recording in summary mode has no tensors to judge: halfulp report %s shows its table, "
			"and "
			"halfulp_trace.record records steps that can be judged",
			dir, dir);
	return hu_fail(HU_EFILE,
		"%s: program-train.json is missing, without which nothing of the run can be judged: "
		"restore it, or train or record again",
		dir);
}
