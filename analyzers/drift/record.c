/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/record.h"

#include "analyzers/drift/baseline/record_run.h"
#include "analyzers/drift/contents/contents.h"
#include "analyzers/drift/contents/kind.h"
#include "analyzers/drift/statistics/check_score.h"
#include "analyzers/drift/statistics/check_statistics.h"
#include "lib/base/guard/input.h"
#include "lib/base/show.h"
#include "lib/base/file.h"

#include <errno.h>
#include <string.h>

int
hu_record_baseline(const hu_args *a, const char *path)
{
	hu_baseline b;
	hu_coverage_seen saw = { 0, 0 };

	if (hu_args_given(a, "statistics"))
		return hu_statistics_record(a, path);
	if (hu_args_given(a, "score"))
		return hu_score_record(a, path);
	hu_status st = hu_baseline_of_run(a->rest[0], &b, &saw);
	if (st == HU_OK) {
		st = hu_baseline_record_run(a, path, &b, &saw);
		hu_baseline_release(&b);
	}
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static hu_status
copy(const char *from, const char *path)
{
	static char piece[1 << 16];
	FILE *f;
	hu_outfile o;
	size_t n;

	HU_TRY(hu_input_open(from, &f));
	hu_status st = hu_outfile_open(&o, path);
	if (st == HU_OK) {
		while ((n = fread(piece, 1, sizeof piece, f)) && fwrite(piece, 1, n, o.f) == n)
			;
		if (ferror(f)) {
			st = hu_fail(HU_EIO, "%s cannot be read: %s", hu_shown(from), strerror(errno));
			hu_outfile_abandon(&o);
		} else {
			st = hu_outfile_commit(&o);
		}
	}
	fclose(f);
	return st;
}

int
hu_record_baseline_file(const char *from, const char *path)
{
	hu_contents c;

	if (hu_kind_of(from) > HU_KIND_FILE)
		return hu_complain(hu_fail(HU_EFILE, "%s is a baseline already: cp %s %s", from, from, path));
	hu_status st = hu_contents_open(&c, from, NULL);

	if (st == HU_OK)
		st = copy(from, path);
	if (st == HU_OK)
		printf("%s, %zu %s, is recorded as %s\n", hu_shown(from), c.n, c.n == 1 ? "name" : "names",
			hu_shown(path));
	hu_contents_release(&c);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}
