/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/parts/parts.h"

#include "lib/base/build.h"
#include "lib/base/guard/guard.h"
#include "lib/base/terminal/excerpts.h"
#include "lib/base/show.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns = "unit expected_s seconds check found";

static char *
copy(const char *s)
{
	return s ? hu_xstrdup(s) : NULL;
}

void
hu_parts_init(hu_parts *p, const char *kind, const char *work, const char *command)
{
	memset(p, 0, sizeof *p);
	p->kind = copy(kind);
	p->work = copy(hu_shown(work)); /* as a part has it */
	p->command = copy(command);
}

void
hu_parts_release(hu_parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->u[i].name);
		free(p->u[i].found);
	}
	free(p->u);
	free(p->kind);
	free(p->work);
	free(p->command);
	for (int i = 0; i < p->nfile; i++) {
		free(p->file[i].path);
		free(p->file[i].shard);
	}
	free(p->file);
	memset(p, 0, sizeof *p);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const hu_part_unit *)a)->name, ((const hu_part_unit *)b)->name);
}

const hu_part_unit *
hu_parts_find(hu_parts *p, const char *name)
{
	hu_part_unit key = { .name = (char *)(size_t)name };

	if (p->sorted < p->n)
		qsort(p->u, p->n, sizeof *p->u, by_name);
	p->sorted = p->n;
	return p->n ? bsearch(&key, p->u, p->n, sizeof *p->u, by_name) : NULL;
}

void
hu_parts_add(hu_parts *p, const char *name, double cost, double seconds, const char *found)
{
	HU_GROW(p->u, p->n, p->cap);
	p->u[p->n++] =
		(hu_part_unit){ hu_xstrdup(name), cost, seconds, hu_xstrdup(*found ? found : "-"), p->nfile - 1 };
}

void
hu_parts_drop(hu_parts *p, int (*drop)(const char *found))
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++)
		if (drop(p->u[i].found)) {
			free(p->u[i].name);
			free(p->u[i].found);
		} else {
			p->u[kept++] = p->u[i];
		}
	p->n = kept;
	p->sorted = 0;
}

/* What stands in a row's column check: a hash of the name and of what was found. */
static void
checked(char hex[17], const char *name, const char *found)
{
	snprintf(hex, 17, "%016llx",
		(unsigned long long)hu_mix64(hu_fnv1a64(found) ^ hu_mix64(hu_fnv1a64(name) + strlen(found))));
}

/* As hu_tsv_note, for a text of any length, before the header. */
static void
note(hu_tsv *t, const char *key, const char *text)
{
	hu_str_addf(&t->text, "# %s: ", key);
	hu_str_show(&t->text, text);
	hu_str_add(&t->text, "\n");
	t->head = t->text.len;
}

hu_status
hu_parts_save(const hu_parts *p, const char *path, const char *shard)
{
	hu_tsv t;
	char hex[17];

	hu_tsv_init(&t);
	note(&t, "halfulp", hu_build_version());
	note(&t, "part of", p->kind);
	note(&t, "work", p->work);
	note(&t, "command", p->command);
	note(&t, "shard", shard ? shard : "-");
	hu_tsv_header(&t, columns);
	for (size_t i = 0; i < p->n; i++) {
		const hu_part_unit *u = &p->u[i];
		checked(hex, u->name, u->found);
		hu_tsv_text(&t, u->name);
		hu_tsv_real(&t, u->cost);
		hu_tsv_real(&t, u->seconds);
		hu_tsv_text(&t, hex);
		hu_tsv_text(&t, u->found);
	}
	return hu_tsv_write(&t, path);
}

/* Takes the note's text for *mine where that is not known yet; HU_EABSENT where the two differ. */
static hu_status
same(char **mine, const hu_table *t, const char *key, const char *path)
{
	const char *theirs = hu_table_note(t, key);

	if (!theirs)
		return hu_fail(HU_EFILE, "%s: there is no line \"# %s:\": is it a part of halfulp's?", path, key);
	if (!*mine)
		*mine = hu_xstrdup(theirs);
	if (!strcmp(*mine, theirs))
		return HU_OK;
	hu_excerpts w = hu_excerpts_of(theirs, *mine);
	return hu_fail(
		HU_EABSENT, "%s: its %s is \"%s\", and here it is \"%s\": parts are of one work", path, key, w.a, w.b);
}

static hu_status
heads(hu_parts *p, const hu_table *t, const char *path)
{
	const char *version = hu_table_note(t, "halfulp");

	if (!version || strcmp(version, hu_build_version()))
		return hu_fail(HU_EFILE,
			"%s: it was written by halfulp %s and this is %s: parts of one version belong together", path,
			version ? version : "of no version", hu_build_version());
	HU_TRY(same(&p->kind, t, "part of", path));
	HU_TRY(same(&p->work, t, "work", path));
	if (!p->command)
		return same(&p->command, t, "command", path);
	return HU_OK;
}

/* Adds row i, unless that unit is there and found the same. */
static hu_status
take(hu_parts *p, const hu_table *t, const int at[5], int i, const char *path)
{
	const char *name = hu_table_cell(t, i, at[0]), *found = hu_table_cell(t, i, at[4]);
	char hex[17];

	checked(hex, name, found);
	if (strcmp(hex, hu_table_cell(t, i, at[3])))
		return hu_fail(
			HU_EFILE, "%s: unit %s was changed since it was written: compute this part again", path, name);
	const hu_part_unit *old = hu_parts_find(p, name);
	if (old && strcmp(old->found, found))
		return hu_fail(
			HU_EFILE, "%s: unit %s found something else than the same unit of another part", path, name);
	return HU_OK;
}

static hu_status
rows(hu_parts *p, const hu_table *t, const char *path)
{
	static const char *const names[] = { "unit", "expected_s", "seconds", "check", "found" };
	int at[5];

	for (int k = 0; k < 5; k++)
		if ((at[k] = hu_table_column(t, names[k])) < 0)
			return hu_fail(HU_EFILE, "%s: it has no column %s: is it a part of halfulp's?", path, names[k]);
	for (int i = 0; i < t->rows; i++)
		HU_TRY(take(p, t, at, i, path));
	const char *shard = hu_table_note(t, "shard");
	size_t before = p->n;
	HU_GROW(p->file, p->nfile, p->filecap);
	p->file[p->nfile++] = (hu_part_file){ hu_xstrdup(path), hu_xstrdup(shard ? shard : "-") };
	char *is_new = hu_xcalloc((size_t)t->rows + 1, 1);
	for (int i = 0; i < t->rows; i++)
		is_new[i] = !before || !hu_parts_find(p, hu_table_cell(t, i, at[0]));
	for (int i = 0; i < t->rows; i++)
		if (is_new[i])
			hu_parts_add(p, hu_table_cell(t, i, at[0]), hu_table_real(t, i, at[1]),
				hu_table_real(t, i, at[2]), hu_table_cell(t, i, at[4]));
	free(is_new);
	return HU_OK;
}

/* As hu_parts_read, except that HU_EABSENT tells of a part of another work. */
static hu_status
read_part(hu_parts *p, const char *path)
{
	hu_table t;

	HU_TRY(hu_table_read(&t, path));
	hu_status st = heads(p, &t, path);
	if (st == HU_OK)
		st = rows(p, &t, path);
	hu_table_release(&t);
	return st;
}

hu_status
hu_parts_read(hu_parts *p, const char *path)
{
	hu_status st = read_part(p, path);

	return st == HU_EABSENT ? HU_EFILE : st;
}

hu_status
hu_parts_spare(const hu_parts *p, const char *path)
{
	hu_table t;

	if (hu_table_read(&t, path) != HU_OK)
		return HU_OK;
	const char *kind = hu_table_note(&t, "part of"), *work = hu_table_note(&t, "work");
	int other = kind && work && (strcmp(kind, p->kind) || strcmp(work, p->work));
	if (other) {
		hu_excerpts w = strcmp(kind, p->kind) ? hu_excerpts_of(kind, p->kind) : hu_excerpts_of(work, p->work);
		hu_fail(HU_EFILE, "%s: it is there already, a part of \"%s\", and here that is \"%s\"", path, w.a, w.b);
	}
	hu_table_release(&t);
	return other ? HU_EFILE : HU_OK;
}

static int
is_part(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && *d->d_name != '.' && !strcmp(d->d_name + n - 5, ".part");
}

hu_status
hu_parts_spare_folder(const hu_parts *p, const char *folder)
{
	struct dirent **list = NULL;
	int n = scandir(folder, &list, is_part, alphasort);
	hu_status st = HU_OK;

	for (int i = 0; i < n; i++) {
		char *path = hu_path(folder, "%s", list[i]->d_name);
		if (st == HU_OK)
			st = hu_parts_spare(p, path);
		free(path);
		free(list[i]);
	}
	free(list);
	return st;
}

hu_status
hu_parts_read_folder(hu_parts *p, const char *folder, int *files, int *others)
{
	struct dirent **list = NULL;
	int n = scandir(folder, &list, is_part, alphasort);
	hu_status st = HU_OK;

	*files = 0;
	if (others)
		*others = 0;
	if (n < 0 && errno != ENOENT)
		return hu_fail(hu_guard_status(errno), "%s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = hu_path(folder, "%s", list[i]->d_name);
		if (st == HU_OK)
			st = read_part(p, path);
		if (st == HU_OK)
			++*files;
		if (st == HU_EABSENT && others) {
			++*others;
			st = HU_OK;
		}
		free(path);
		free(list[i]);
	}
	free(list);
	return st == HU_EABSENT ? HU_EFILE : st;
}
