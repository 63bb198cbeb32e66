/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/images/folder.h"

#include "lib/base/file.h"
#include "lib/base/guard/input.h"
#include "lib/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { DEPTH = 16 }; /* folders below a class; links that lead back end here */

typedef struct names {
	char **name;
	size_t n, room;
} names;

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
names_release(names *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->name[i]);
	free(s->name);
}

/* The entries of a folder that are not hidden, in the order of their bytes. */
static hu_status
entries(names *s, const char *dir)
{
	DIR *d;

	*s = (names){ NULL, 0, 0 };
	HU_TRY(hu_input_folder(dir, &d));
	if (!d)
		return hu_fail(HU_EFILE, "%s: there is no such folder", dir);
	for (struct dirent *e; (e = hu_input_entry(d));) {
		if (e->d_name[0] == '.')
			continue;
		if (s->n == s->room)
			s->name = hu_xrealloc(s->name, (s->room = 2 * s->room + 16) * sizeof *s->name);
		s->name[s->n++] = hu_xstrdup(e->d_name);
	}
	closedir(d);
	if (s->n)
		qsort(s->name, s->n, sizeof *s->name, by_bytes);
	return HU_OK;
}

static int
is_image(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcasecmp(dot, ".jpg") || !strcasecmp(dot, ".jpeg") || !strcasecmp(dot, ".png"));
}

static int
is_folder(const char *path)
{
	struct stat s;

	return !hu_input_stat(path, &s) && S_ISDIR(s.st_mode);
}

/* A part being listed: its images, and how many of the class at hand there are. */
typedef struct part {
	hu_image_file *file;
	size_t n, room, nth;
} part;

static hu_status
walk(part *p, const char *dir, size_t label, int depth)
{
	names s;

	HU_TRY(entries(&s, dir));
	hu_status st = HU_OK;
	for (size_t i = 0; i < s.n && st == HU_OK; i++) {
		char *path = hu_path(dir, "%s", s.name[i]);
		struct stat is;
		int there = !hu_input_stat(path, &is);
		if (there && S_ISDIR(is.st_mode) && depth < DEPTH)
			st = walk(p, path, label, depth + 1);
		else if (there && S_ISREG(is.st_mode) && is_image(s.name[i])) {
			if (p->n == p->room)
				p->file = hu_xrealloc(p->file, (p->room = 2 * p->room + 64) * sizeof *p->file);
			p->file[p->n++] = (hu_image_file){ path, label, p->nth++, (uint64_t)is.st_size };
			path = NULL;
		}
		free(path);
	}
	names_release(&s);
	return st;
}

static void
part_release(part *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->file[i].path);
	free(p->file);
}

/* The classes' folders in dir; f->class is set where `sets` is, and else names the classes there may be. */
static hu_status
list_part(part *p, hu_image_folder *f, const char *dir, int sets)
{
	names s;

	HU_TRY(entries(&s, dir));
	hu_status st = HU_OK;
	for (size_t i = 0; i < s.n && st == HU_OK; i++) {
		char *path = hu_path(dir, "%s", s.name[i]);
		size_t label = f->nclass;
		if (is_folder(path)) {
			for (label = 0; label < f->nclass && strcmp(f->class[label], s.name[i]); label++)
				;
			if (label == f->nclass && sets) {
				f->class = hu_xrealloc(f->class, (f->nclass + 1) * sizeof *f->class);
				f->class[f->nclass++] = hu_xstrdup(s.name[i]);
			} else if (label == f->nclass)
				st = hu_fail(HU_EFILE, "%s: the images to train on have no class of this name", path);
			p->nth = 0;
			if (st == HU_OK)
				st = walk(p, path, label, 0);
			if (st == HU_OK && !p->nth)
				st = hu_fail(HU_EFILE,
					"%s: there is no image (.jpg, .jpeg or .png) of this class; remove the folder "
					"or fill it",
					path);
		}
		free(path);
	}
	names_release(&s);
	if (st == HU_OK && f->nclass < 2)
		st = hu_fail(HU_EFILE, "%s: %s; a folder for each class is needed, and two classes at least", dir,
			f->nclass ? "there is one class alone" : "there are no folders");
	return st;
}

/* In rounds of one from every class. */
static int
by_round(const void *a, const void *b)
{
	const hu_image_file *x = a, *y = b;

	return x->nth != y->nth ? (x->nth < y->nth ? -1 : 1) : (x->label > y->label) - (x->label < y->label);
}

/* Moves every tenth image of each class, or its last one, from the part to train on to that to evaluate on. */
static void
set_apart(part *train, part *eval)
{
	size_t kept = 0;

	eval->file = hu_xmalloc((train->n + 1) * sizeof *eval->file);
	for (size_t i = 0; i < train->n; i++) {
		hu_image_file *x = &train->file[i];
		int last = i + 1 == train->n || train->file[i + 1].label != x->label;
		if (x->nth % 10 == 9 || (last && x->nth && x->nth < 9))
			eval->file[eval->n++] = *x;
		else
			train->file[kept++] = *x;
	}
	train->n = kept;
}

static hu_status
list(part *train, part *eval, hu_image_folder *f, const char *dir)
{
	static const char *const held_apart[] = { "val", "valid", "validation", "test" };
	char *inner = hu_path(dir, "train");
	int parts = is_folder(inner);
	hu_status st = list_part(train, f, parts ? inner : dir, 1);

	free(inner);
	for (int i = 0; i < 4 && parts && st == HU_OK && !eval->n; i++) {
		inner = hu_path(dir, "%s", held_apart[i]);
		if (is_folder(inner))
			st = list_part(eval, f, inner, 0);
		free(inner);
	}
	if (st == HU_OK && !eval->n)
		set_apart(train, eval);
	if (st == HU_OK && !eval->n)
		st = hu_fail(HU_EFILE, "%s: no class has two images, of which one is to evaluate on", dir);
	return st;
}

hu_status
hu_image_folder_list(hu_image_folder *f, const char *dir)
{
	part train = { NULL, 0, 0, 0 }, eval = train;

	memset(f, 0, sizeof *f);
	hu_status st = list(&train, &eval, f, dir);
	if (st != HU_OK) {
		part_release(&train);
		part_release(&eval);
		hu_image_folder_release(f);
		return st;
	}
	qsort(train.file, train.n, sizeof *train.file, by_round);
	qsort(eval.file, eval.n, sizeof *eval.file, by_round);
	f->n_train = train.n;
	f->n_eval = eval.n;
	f->file = hu_xrealloc(train.file, (train.n + eval.n) * sizeof *f->file);
	memcpy(f->file + train.n, eval.file, eval.n * sizeof *f->file);
	free(eval.file);
	return HU_OK;
}

void
hu_image_folder_limit(hu_image_folder *f, size_t train, size_t eval)
{
	size_t n = 0, ends[2] = { f->n_train, f->n_train + f->n_eval };

	train = train && train < f->n_train ? train : f->n_train;
	eval = eval && eval < f->n_eval ? eval : f->n_eval;
	for (size_t i = 0; i < ends[1]; i++)
		if (i < train || (i >= ends[0] && i < ends[0] + eval))
			f->file[n++] = f->file[i];
		else
			free(f->file[i].path);
	f->n_train = train;
	f->n_eval = eval;
}

void
hu_image_folder_release(hu_image_folder *f)
{
	for (size_t i = 0; i < f->nclass; i++)
		free(f->class[i]);
	for (size_t i = 0; i < f->n_train + f->n_eval; i++)
		free(f->file[i].path);
	free(f->class);
	free(f->file);
	memset(f, 0, sizeof *f);
}
