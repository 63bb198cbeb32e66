/* SPDX-License-Identifier: Apache-2.0
   The baseline's file: a table that a reviewer reads in a diff. Its head has the number of its rows and a
   checksum, so that no part of it can be lost, and no number changed, without being noticed. */
#include "analyzers/drift/baseline/baseline.h"
#include "analyzers/drift/baseline/baseline_common.h"
#include "analyzers/drift/baseline/baseline_headline.h"

#include "lib/base/guard/guard.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define COLUMNS "quantity value hex must_not_move ulps_of ulps tolerance"
#define MARK "# xxh3: "

static const char *const sides[] = { "both", "up", "down", "any" };

/* Writes XXH3's 64-bit digest of all bytes but those of the line that holds the digest. */
static void
checksum(const char *data, size_t n, char hex[17])
{
	const char *line = !strncmp(data, MARK, strlen(MARK)) ? data : strstr(data, "\n" MARK), *end = data + n, *after;
	XXH3_state_t *s = hu_allocators_hash();

	line = !line ? end : line + (*line == '\n');
	after = memchr(line, '\n', (size_t)(end - line));
	after = after ? after + 1 : end;
	XXH3_64bits_reset(s);
	XXH3_64bits_update(s, data, (size_t)(line - data));
	XXH3_64bits_update(s, after, (size_t)(end - after));
	snprintf(hex, 17, "%016llx", (unsigned long long)XXH3_64bits_digest(s));
	XXH3_freeState(s);
}

/* The first line of DIR/NAME without its newline; 0 where there is none. */
static int
first_line(const char *dir, const char *name, char *line, int size)
{
	char *path = hu_path(dir, "%s", name);
	FILE *f = fopen(path, "r");
	int ok = f && fgets(line, size, f);

	if (!f || ferror(f))
		hu_guard_note(path);
	if (f)
		fclose(f);
	free(path);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

void
hu_baseline_commit(char *out, size_t size)
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
write_row(hu_tsv *t, const hu_baseline_quantity *q)
{
	char hex[64] = "-";

	hu_tsv_text(t, q->key);
	hu_tsv_text(t, q->text);
	if (isfinite(q->value))
		snprintf(hex, sizeof hex, "%a", q->value);
	hu_tsv_text(t, hex);
	hu_tsv_text(t, sides[q->side]);
	hu_tsv_text(t, hu_format_name(q->format));
	hu_tsv_real(t, q->ulps);
	hu_tsv_real(t, q->tolerance);
}

/* The rows of one half: those to review first, or the rest. */
static size_t
write_half(hu_tsv *t, const hu_baseline *b, int headline)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (hu_is_headline(b, &b->q[i]) == headline) {
			write_row(t, &b->q[i]);
			n++;
		}
	return n;
}

/* Sets name to that of whoever runs the program: USER, else the line of /etc/passwd; "-" where none is known. */
static void
user_name(char *name, size_t size)
{
	const char *user = getenv("USER");
	const struct passwd *found = NULL;

#ifdef __GLIBC__ /* whose getpwuid, which asks more than that file, ends the program where it lacks memory (2.36) */
	char text[16384]; /* of a line: a longer one ends the search */
	struct passwd one;
	struct passwd *line = NULL;
	FILE *f = user ? NULL : fopen("/etc/passwd", "re");

	if (!user && !f)
		hu_guard_note("/etc/passwd");
	int end = 0;
	while (f && !(end = fgetpwent_r(f, &one, text, sizeof text, &line)) && line->pw_uid != getuid())
		line = NULL;
	if (end && end != ENOENT) { /* ENOENT: no further line */
		errno = end;
		hu_guard_note("/etc/passwd");
	}
	if (f)
		fclose(f);
	found = line;
#else
	if (!user)
		found = getpwuid(getuid());
#endif
	snprintf(name, size, "%s", user ? user : found ? found->pw_name : "-");
}

void
hu_baseline_head(hu_tsv *t, const hu_baseline *b, const char *reason)
{
	char commit[96], date[32], user[256];
	time_t now = time(NULL);
	struct tm utc;

	user_name(user, sizeof user);
	hu_baseline_commit(commit, sizeof commit);
	strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
	hu_tsv_note(t, "reason", "%s", reason);
	hu_tsv_note(t, "recorded by", "%s on %s at commit %s", user, date, commit);
	for (size_t i = 0; i < b->nenv; i++) {
		char *key = hu_xprintf("env.%s", b->env[i].key);
		hu_tsv_note(t, key, "%s", b->env[i].value);
		free(key);
	}
}

void
hu_baseline_sign(hu_tsv *t)
{
	char sum[17];

	checksum(t->text.s, t->text.len, sum);
	hu_tsv_note(t, "xxh3", "%s", sum);
}

hu_status
hu_baseline_write(const hu_baseline *b, const char *path, const char *reason, const char *measured, const char *unseen)
{
	hu_tsv t;

	hu_tsv_init(&t);
	hu_tsv_note(&t, "halfulp baseline", "%d", HU_BASELINE_VERSION);
	hu_tsv_note(&t, "tolerances", "%s", measured);
	for (const char *at = unseen; *at; at += strcspn(at, "\n") + 1)
		hu_tsv_note(&t, "unseen", "%.*s", (int)strcspn(at, "\n"), at);
	hu_baseline_head(&t, b, reason);
	hu_tsv_note(&t, "rows", "%zu", b->n);
	hu_tsv_header(&t, COLUMNS);
	size_t first = write_half(&t, b, 1);
	hu_str_addf(&t.text, "# the %zu rows above are for review; the %zu below are what they rest on\n", first,
		b->n - first);
	write_half(&t, b, 0);
	hu_baseline_sign(&t);
	return hu_tsv_write(&t, path);
}

/* Sets the tolerances, and says what is wrong with a row, whose hex column must be the very number that its value
   column is; NULL: nothing is. */
static const char *
fault(hu_baseline_quantity *q, const char *hex, const char *ulps, const char *tolerance)
{
	char *end;

	if (!*q->key)
		return "it has no name";
	if (strspn(q->text, "0123456789+-.eE") == strlen(q->text) && isinf(q->value))
		return "its value is beyond the largest double";
	if (isfinite(q->value)) {
		size_t sign = *hex == '-';
		double bits = strtod(hex, &end);
		if (strncmp(hex + sign, "0x", 2) || *end)
			return "its hex column is no hex float";
		if (memcmp(&bits, &q->value, sizeof bits))
			return "its value and its hex column are different numbers";
	} else if (strcmp(hex, "-")) {
		return "its hex column has a number and its value column has none";
	}
	if (!hu_baseline_number(ulps, &q->ulps) || !(q->ulps >= 0 && q->ulps <= 0x1p52))
		return "its ulps are no number from 0 to 2^52";
	if (!hu_baseline_number(tolerance, &q->tolerance) || !(q->tolerance >= 0 && isfinite(q->tolerance)))
		return "its tolerance is no finite number from 0";
	return NULL;
}

static hu_status
read_row(hu_baseline *b, const hu_table *t, int i, const char *path)
{
	enum { QUANTITY, VALUE, HEX, SIDE, FORMAT, ULPS, TOLERANCE };
	const char *cell[TOLERANCE + 1], *why;
	hu_format_id format;
	int s = 0;

	for (int k = 0; k <= TOLERANCE; k++)
		cell[k] = hu_table_cell(t, i, k);
	while (s < HU_SIDES && strcmp(sides[s], cell[SIDE]))
		s++;
	if (s == HU_SIDES)
		return hu_fail(HU_EFILE, "%s: row %d, %s: must_not_move is '%s', and can be both, up, down or any",
			path, i + 1, cell[QUANTITY], cell[SIDE]);
	if (hu_format_find(cell[FORMAT], &format) != HU_OK)
		return hu_fail(HU_EFILE, "%s: row %d, %s: ulps_of is '%s', which is no format", path, i + 1,
			cell[QUANTITY], cell[FORMAT]);
	hu_baseline_add(b, cell[QUANTITY], cell[VALUE], (hu_baseline_side)s, format);
	b->q[b->n - 1].line = t->line[i];
	if ((why = fault(&b->q[b->n - 1], cell[HEX], cell[ULPS], cell[TOLERANCE])))
		return hu_fail(HU_EFILE,
			"%s: row %d, %s: %s (value %s, hex %s, ulps %s, tolerance %s): take the file that was "
			"recorded, or record it again",
			path, i + 1, cell[QUANTITY], why, cell[VALUE], cell[HEX], cell[ULPS], cell[TOLERANCE]);
	return HU_OK;
}

static hu_status
check_head(const hu_table *t, const char *path)
{
	const char *version = hu_table_note(t, "halfulp baseline");
	char *columns = hu_xstrdup(COLUMNS), *save = NULL;
	int k = 0;
	long have = version ? strtol(version, NULL, 10) : 0;
	hu_status st = HU_OK;

	if (have < 1)
		st = hu_fail(HU_EFILE, "%s: no halfulp baseline", path);
	else if (have < HU_BASELINE_VERSION)
		st = hu_fail(HU_EFILE,
			"%s: a baseline of version %ld, which holds less than one of version %d: record it "
			"again with halfulp baseline RUN -o FILE --reason TEXT",
			path, have, HU_BASELINE_VERSION);
	else if (have > HU_BASELINE_VERSION)
		st = hu_fail(HU_EFILE, "%s: a baseline of version %ld; this program reads %d: use a newer halfulp",
			path, have, HU_BASELINE_VERSION);
	for (char *s = strtok_r(columns, " ", &save); s && st == HU_OK; s = strtok_r(NULL, " ", &save), k++)
		if (k >= t->columns || strcmp(t->column[k], s))
			st = hu_fail(HU_EFILE, "%s: column %d of its header is not %s", path, k + 1, s);
	if (st == HU_OK && t->columns != k)
		st = hu_fail(HU_EFILE, "%s: its header has %d columns, and not %d", path, t->columns, k);
	free(columns);
	return st;
}

/* SUM: of the bytes that were read. */
static hu_status
check_whole(const hu_table *t, const char *sum, const char *path)
{
	const char *rows = hu_table_note(t, "rows"), *want = hu_table_note(t, "xxh3");
	char have[24];

	snprintf(have, sizeof have, "%d", t->rows);
	if (!rows || strcmp(rows, have))
		return hu_fail(HU_EFILE,
			"%s: it has %s quantities and its head says %s: the file was cut short or changed; take the "
			"one that was recorded, or record it again",
			path, have, rows ? rows : "nothing");
	if (!want || strcmp(want, sum))
		return hu_fail(HU_EFILE,
			"%s: its checksum is %s and its head says %s: the file was changed after it was recorded; take "
			"the one that was, or record it again",
			path, sum, want ? want : "nothing");
	return HU_OK;
}

/* A baseline that does not say what it is of would be held against anything. */
static hu_status
check_env(const hu_baseline *b, const char *path)
{
	static const char *const needed[] = { "halfulp", "model", "policy", "dataset", "seed", "summation_tree" };

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!hu_baseline_env(b, needed[i]))
			return hu_fail(HU_EFILE,
				"%s: it has no environment: there is no line '# env.%s'; take the file that was "
				"recorded, or record it again",
				path, needed[i]);
	return HU_OK;
}

static void
read_env(hu_baseline *b, const hu_table *t)
{
	for (int i = 0; i < t->notes; i++) {
		char *colon = strstr(t->note[i], ": ");
		if (strncmp(t->note[i], "env.", 4) || !colon)
			continue;
		char *key = hu_xprintf("%.*s", (int)(colon - t->note[i] - 4), t->note[i] + 4);
		hu_baseline_set(b, key, "%s", colon + 2);
		free(key);
	}
}

hu_status
hu_baseline_parse_table(hu_baseline *of, hu_baseline_rows *rows, void *to, const char *path, char *data, size_t n)
{
	char sum[17];
	hu_table t;

	if (!data)
		HU_TRY(hu_file_read(path, &data, &n));
	checksum(data, n, sum);
	HU_TRY(hu_table_parse(&t, path, data, n));
	hu_status st = rows(to, &t, path);
	if (st == HU_OK)
		st = check_whole(&t, sum, path);
	if (st == HU_OK) {
		read_env(of, &t);
		st = check_env(of, path);
	}
	hu_table_release(&t);
	return st;
}

static hu_status
read_rows(void *to, const hu_table *t, const char *path)
{
	HU_TRY(check_head(t, path));
	for (int i = 0; i < t->rows; i++)
		HU_TRY(read_row(to, t, i, path));
	return HU_OK;
}

hu_status
hu_baseline_parse(hu_baseline *b, const char *name, char *data, size_t n)
{
	memset(b, 0, sizeof *b);
	hu_status st = hu_baseline_parse_table(b, read_rows, b, name, data, n);
	hu_baseline_sort(b);
	for (size_t i = 1; i < b->n && st == HU_OK; i++)
		if (!strcmp(b->q[i].key, b->q[i - 1].key))
			st = hu_fail(HU_EFILE, "%s: quantity %s stands twice", name, b->q[i].key);
	if (st != HU_OK)
		hu_baseline_release(b);
	return st;
}

hu_status
hu_baseline_read(hu_baseline *b, const char *path)
{
	return hu_baseline_parse(b, path, NULL, 0);
}
