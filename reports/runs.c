/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/runs.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/console/show_json.h"
#include "lib/store/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const json_t *
hu_json_at(const json_t *j, const char *path)
{
	char part[64];

	while (j && *path) {
		size_t n = strcspn(path, ".");
		snprintf(part, sizeof part, "%.*s", (int)n, path);
		j = json_object_get(j, part);
		path += n + (path[n] == '.');
	}
	return j;
}

const char *
hu_json_text(const json_t *j, const char *path)
{
	return json_string_value(hu_json_at(j, path));
}

double
hu_json_number(const json_t *j, const char *path)
{
	const json_t *v = hu_json_at(j, path);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static hu_status
read_json(json_t **j, const char *path)
{
	json_error_t e;
	char *text;
	size_t n;

	HU_TRY(hu_file_read(path, &text, &n));
	*j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
	free(text);
	if (!*j)
		return hu_fail(HU_EFILE, "%s:%d: no valid JSON: %s", path, e.line, e.text);
	if (!json_is_object(*j)) {
		json_decref(*j);
		*j = NULL;
		return hu_fail(HU_EFILE, "%s: a JSON object was expected", path);
	}
	return hu_json_plain(*j, path);
}

/* Checks the checksum of metrics.tsv, so that curves are drawn only from rows that the run wrote. */
static hu_status
check_metrics(const json_t *manifest, const char *path)
{
	const json_t *entry = json_object_get(json_object_get(manifest, "files"), "metrics.tsv");
	const char *want = json_string_value(json_object_get(entry, "xxh3"));
	double bytes;
	char hex[17];

	if (!entry)
		return HU_OK;
	HU_TRY(hu_run_checksum(path, &bytes, hex));
	if (!want || strcmp(want, hex))
		return hu_fail(HU_EFILE,
			"%s: its checksum is %s, the manifest says %s: the file was changed; restore it or train again",
			path, hex, want ? want : "nothing");
	return HU_OK;
}

static hu_status
open_run(hu_report_run *r, const char *dir)
{
	char *manifest = hu_path(dir, "manifest.json"), *metrics = hu_path(dir, "metrics.tsv"),
	     *summary = hu_path(dir, "analysis/summary.json");
	hu_status st = HU_OK;

	r->dir = hu_xstrdup(dir);
	for (size_t n = strlen(r->dir); n > 1 && r->dir[n - 1] == '/'; n--)
		r->dir[n - 1] = 0;
	if (!hu_exists(manifest))
		st = hu_run_absent(r->dir);
	if (st == HU_OK)
		st = read_json(&r->manifest, manifest);
	if (st == HU_OK)
		st = hu_run_check_version(r->manifest, manifest);
	if (st == HU_OK)
		st = check_metrics(r->manifest, metrics);
	if (st == HU_OK)
		st = hu_table_read(&r->metrics, metrics);
	if (st == HU_OK && hu_exists(summary))
		st = read_json(&r->summary, summary);
	free(manifest);
	free(metrics);
	free(summary);
	return st;
}

static const char *
folder(const hu_report_run *r)
{
	const char *slash = strrchr(r->dir, '/');

	return slash && slash[1] ? slash + 1 : r->dir;
}

static const char *
policy(const hu_report_run *r)
{
	const char *p = hu_json_text(r->manifest, "policy.name");

	if (!p)
		p = hu_json_text(r->manifest, "policy");
	return p && *p ? p : folder(r);
}

static const char *
whole_path(const hu_report_run *r)
{
	return r->dir;
}

/* Labels runs by the shortest of three names that distinguishes all of them; the path does, unless a run is given
   twice. */
static void
label(hu_report_runs *r)
{
	const char *(*names[])(const hu_report_run *) = { policy, folder, whole_path };

	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		int same = 0;
		for (int i = 0; i < r->n; i++)
			for (int j = 0; j < i; j++)
				same |= !strcmp(names[k](&r->at[i]), names[k](&r->at[j]));
		if (same && names[k] != whole_path)
			continue;
		for (int i = 0; i < r->n; i++)
			r->at[i].label = hu_xstrdup(hu_shown(names[k](&r->at[i])));
		return;
	}
}

/* Returns how important a run is: its verdict, then the share of the update that it lost. */
static double
harm(const hu_report_run *r)
{
	const char *word = r->summary ? hu_json_text(r->summary, "verdict_word") : NULL;
	double lost = r->summary ? hu_json_number(r->summary, "numbers.update_l2_share_lost") : 0;

	if (!r->summary)
		return -1;
	return (word && !strcmp(word, "fatal")          ? 4
		       : word && !strcmp(word, "costs") ? 2
							: 0) +
	       (lost > 0 ? fmin(lost, 1) : 0);
}

hu_status
hu_report_runs_open(hu_report_runs *r, char *const *dir, int n)
{
	hu_status st = HU_OK;

	memset(r, 0, sizeof *r);
	r->at = hu_xcalloc((size_t)n, sizeof *r->at);
	r->dir = hu_xcalloc((size_t)n, sizeof *r->dir);
	for (int i = 0; i < n && st == HU_OK; i++) {
		r->n++;
		st = open_run(&r->at[i], dir[i]);
		r->dir[i] = r->at[i].dir;
		if (st == HU_OK && harm(&r->at[i]) > harm(&r->at[r->focus]))
			r->focus = i;
	}
	if (st == HU_OK)
		label(r);
	else
		hu_report_runs_release(r);
	return st;
}

void
hu_report_runs_release(hu_report_runs *r)
{
	for (int i = 0; i < r->n; i++) {
		free(r->at[i].dir);
		free(r->at[i].label);
		json_decref(r->at[i].manifest);
		json_decref(r->at[i].summary);
		hu_table_release(&r->at[i].metrics);
	}
	free(r->at);
	free(r->dir);
	memset(r, 0, sizeof *r);
}
