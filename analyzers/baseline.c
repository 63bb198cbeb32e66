/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/baseline.h"

#include "lib/base/mem.h"

#include <math.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const sides[] = { "both", "up", "down", "any" };

const char *
hu_side_name(hu_side side)
{
	return sides[side];
}

void
hu_baseline_add(hu_baseline *b, const char *key, const char *text, hu_side side, hu_format_id format)
{
	char *end;

	HU_GROW(b->q, b->n, b->cap);
	hu_quantity *q = &b->q[b->n++];
	q->key = hu_xstrdup(key);
	q->text = hu_xstrdup(text);
	q->value = strtod(text, &end);
	q->number = end != text && !*end && strncmp(text, "0x", 2);
	if (!q->number)
		q->value = NAN;
	q->side = side;
	q->format = format;
	q->ulps = q->noise = 0;
}

void
hu_baseline_set(hu_baseline *b, const char *key, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	HU_GROW(b->env, b->nenv, b->envcap);
	b->env[b->nenv++] = (hu_setting){ hu_xstrdup(key), hu_xstrdup(text) };
}

static int
by_key(const void *a, const void *b)
{
	return strcmp(((const hu_quantity *)a)->key, ((const hu_quantity *)b)->key);
}

void
hu_baseline_sort(hu_baseline *b)
{
	if (b->n)
		qsort(b->q, b->n, sizeof *b->q, by_key);
}

const hu_quantity *
hu_baseline_find(const hu_baseline *b, const char *key)
{
	hu_quantity probe = { .key = (char *)(size_t)key };

	return b->n ? bsearch(&probe, b->q, b->n, sizeof *b->q, by_key) : NULL;
}

const char *
hu_baseline_env(const hu_baseline *b, const char *key)
{
	for (size_t i = 0; i < b->nenv; i++)
		if (!strcmp(b->env[i].key, key))
			return b->env[i].value;
	return NULL;
}

static void
drop(hu_quantity *q)
{
	free(q->key);
	free(q->text);
}

void
hu_baseline_release(hu_baseline *b)
{
	for (size_t i = 0; i < b->n; i++)
		drop(&b->q[i]);
	for (size_t i = 0; i < b->nenv; i++) {
		free(b->env[i].key);
		free(b->env[i].value);
	}
	free(b->q);
	free(b->env);
	memset(b, 0, sizeof *b);
}

/* Noise of one quantity over all runs. */
static void
measure(hu_quantity *q, const hu_baseline *more, size_t n)
{
	long double sum = q->value, sum2 = 0;
	int same = 1, all = 1;

	for (size_t k = 0; k < n; k++) {
		const hu_quantity *o = hu_baseline_find(&more[k], q->key);
		all &= o != NULL;
		same &= o && !strcmp(o->text, q->text);
		sum += o ? o->value : NAN;
	}
	long double mean = sum / (long double)(n + 1);
	sum2 = (q->value - mean) * (q->value - mean);
	for (size_t k = 0; k < n; k++) {
		const hu_quantity *o = hu_baseline_find(&more[k], q->key);
		sum2 += o ? (o->value - mean) * (o->value - mean) : 0;
	}
	if (!all || (!same && !isfinite((double)sum2)))
		q->side = HU_SIDE_ANY;
	else if (!same) /* both the new run and the blessed one vary: 1.96 * sqrt(2) = 2.8 (ISO 5725-2) */
		q->noise = 2.8 * sqrt((double)sum2 / (double)n);
}

void
hu_baseline_measure(hu_baseline *b, const hu_baseline *more, size_t n)
{
	size_t first = b->n;

	for (size_t i = 0; i < first; i++)
		measure(&b->q[i], more, n);
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < more[k].n; i++) {
			const hu_quantity *q = &more[k].q[i];
			if (hu_baseline_find(b, q->key))
				continue;
			hu_baseline_add(b, q->key, q->text, HU_SIDE_ANY, q->format);
			hu_baseline_sort(b);
		}
}

/* The first line of DIR/NAME without its newline; 0 where there is none. */
static int
first_line(const char *dir, const char *name, char *line, int size)
{
	char *path = hu_path(dir, "%s", name);
	FILE *f = fopen(path, "r");
	int ok = f && fgets(line, size, f);

	if (f)
		fclose(f);
	free(path);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

/* The commit checked out around the working directory, read from .git; "-" where there is none. */
static void
commit_here(char *out, size_t size)
{
	char dir[4096], line[256], name[300];

	snprintf(out, size, "-");
	if (!getcwd(dir, sizeof dir))
		return;
	while (!first_line(dir, ".git/HEAD", line, sizeof line)) {
		char *slash = strrchr(dir, '/');
		if (!slash || slash == dir)
			return;
		*slash = 0;
	}
	if (!strncmp(line, "ref: ", 5)) {
		snprintf(name, sizeof name, ".git/%s", line + 5);
		if (!first_line(dir, name, line, sizeof line))
			return;
	}
	snprintf(out, size, "%.80s", line);
}

static void
write_row(hu_tsv *t, const hu_quantity *q)
{
	char hex[64] = "-";

	hu_tsv_text(t, q->key);
	hu_tsv_text(t, q->text);
	if (q->number && isfinite(q->value))
		snprintf(hex, sizeof hex, "%a", q->value);
	hu_tsv_text(t, hex);
	hu_tsv_text(t, sides[q->side]);
	hu_tsv_text(t, hu_format_name(q->format));
	hu_tsv_real(t, q->ulps);
	hu_tsv_real(t, q->noise);
}

hu_status
hu_baseline_write(const hu_baseline *b, const char *path, const char *reason, const char *measured)
{
	hu_tsv t;
	char commit[96], date[32];
	const char *user = getenv("USER");
	const struct passwd *pw = user ? NULL : getpwuid(getuid());
	time_t now = time(NULL);
	struct tm utc;

	commit_here(commit, sizeof commit);
	strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
	hu_tsv_init(&t);
	hu_tsv_note(&t, "halfulp baseline", "%d", HU_BASELINE_VERSION);
	hu_tsv_note(&t, "reason", "%s", reason);
	hu_tsv_note(&t, "blessed by", "%s on %s at commit %s", user ? user : pw ? pw->pw_name : "-", date, commit);
	hu_tsv_note(&t, "tolerances", "%s", measured);
	for (size_t i = 0; i < b->nenv; i++) {
		char *key = hu_xprintf("env.%s", b->env[i].key);
		hu_tsv_note(&t, key, "%s", b->env[i].value);
		free(key);
	}
	hu_tsv_header(&t, "quantity value hex must_not_move ulps_of ulps noise");
	for (size_t i = 0; i < b->n; i++)
		write_row(&t, &b->q[i]);
	return hu_tsv_write(&t, path);
}

static hu_status
read_row(hu_baseline *b, const hu_table *t, int i, const char *path)
{
	const char *hex = hu_table_cell(t, i, hu_table_column(t, "hex")), *side = hu_table_cell(t, i, hu_table_column(t, "must_not_move"));
	hu_format_id format;
	int s = 0;

	while (s < HU_SIDES && strcmp(sides[s], side))
		s++;
	if (s == HU_SIDES || hu_format_find(hu_table_cell(t, i, hu_table_column(t, "ulps_of")), &format) != HU_OK)
		return hu_fail(HU_EFILE, "%s: quantity %s: must_not_move '%s' or its format is unknown", path, hu_table_cell(t, i, 0), side);
	hu_baseline_add(b, hu_table_cell(t, i, hu_table_column(t, "quantity")), hu_table_cell(t, i, hu_table_column(t, "value")), (hu_side)s, format);
	hu_quantity *q = &b->q[b->n - 1];
	if (strcmp(hex, "-"))
		q->value = strtod(hex, NULL); /* the bits that count */
	q->ulps = hu_table_real(t, i, hu_table_column(t, "ulps"));
	q->noise = hu_table_real(t, i, hu_table_column(t, "noise"));
	if (!(q->ulps >= 0) || !(q->noise >= 0))
		return hu_fail(HU_EFILE, "%s: quantity %s: its tolerances are no numbers from 0", path, q->key);
	return HU_OK;
}

hu_status
hu_baseline_read(hu_baseline *b, const char *path)
{
	hu_table t;
	hu_status st = HU_OK;

	memset(b, 0, sizeof *b);
	HU_TRY(hu_table_read(&t, path));
	const char *version = hu_table_note(&t, "halfulp baseline");
	if (!version || atoi(version) < 1)
		st = hu_fail(HU_EFILE, "%s: no halfulp baseline", path);
	else if (atoi(version) > HU_BASELINE_VERSION)
		st = hu_fail(HU_EFILE, "%s: a baseline of version %s; this program reads %d: use a newer halfulp", path, version, HU_BASELINE_VERSION);
	for (int i = 0; i < t.notes && st == HU_OK; i++) {
		char *colon = strstr(t.note[i], ": ");
		if (strncmp(t.note[i], "env.", 4) || !colon)
			continue;
		char *key = hu_xprintf("%.*s", (int)(colon - t.note[i] - 4), t.note[i] + 4);
		hu_baseline_set(b, key, "%s", colon + 2);
		free(key);
	}
	for (int i = 0; i < t.rows && st == HU_OK; i++)
		st = read_row(b, &t, i, path);
	hu_table_release(&t);
	hu_baseline_sort(b);
	for (size_t i = 1; i < b->n && st == HU_OK; i++)
		if (!strcmp(b->q[i].key, b->q[i - 1].key))
			st = hu_fail(HU_EFILE, "%s: quantity %s stands twice", path, b->q[i].key);
	if (st != HU_OK)
		hu_baseline_release(b);
	return st;
}
