/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/make.h"

#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/elementary/elementary.h"
#include "lib/store/npy.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANK = 6 };

static const struct {
	char letter;
	size_t ordinary;
	const char *boundaries;
} letters[] = {
#define LETTER(L, ORDINARY, BOUNDARIES, SUMMARY) { #L[0], ORDINARY, BOUNDARIES },
#include "analyzers/judge/make.def"
};
enum { LETTERS = sizeof letters / sizeof *letters };

typedef enum values {
#define VALUES(NAME, SUMMARY) DRAW_##NAME,
#include "analyzers/judge/make.def"
	DRAWS
} values;

static const struct {
	const char *name, *summary;
} draws[] = {
#define VALUES(NAME, SUMMARY) { #NAME, SUMMARY },
#include "analyzers/judge/make.def"
};

typedef struct state {
	uint64_t at;
	hu_format f;
	size_t length[LETTERS];
} state;

static double
uniform(state *s)
{
	s->at = hu_mix64(s->at + 1);
	return ((double)(s->at >> 11) + 0.5) * 0x1p-53;
}

static double
normal(state *s)
{
	double r = sqrt(-2 * hu_log(uniform(s)));

	return r * hu_cos(6.283185307179586 * uniform(s));
}

/* Number i of n in a row. */
static double
number(state *s, values how, size_t row, size_t i, size_t n)
{
	double x = normal(s);

	switch (how) {
	case DRAW_normal: return x;
	case DRAW_outliers: return uniform(s) < 0.02 ? 1000 * x : x;
	case DRAW_maxima: return i % 3 == 0 ? 4 : x < 4 ? x : 3;
	case DRAW_ties: return hu_rint(4 * x) / 2;
	case DRAW_constant: return 0.75 * (double)(row % 5 + 1);
	case DRAW_zeros: return row % 2 ? x : i % 2 ? -0.0 : 0.0;
	case DRAW_subnormal: return x * 0x1p-130;
	case DRAW_large: return x * 1e4 / 4;
	case DRAW_infinite: return row == 1 && i == n / 2 ? INFINITY : x;
	case DRAW_nan: return row == 1 && i == n / 2 ? NAN : x;
	case DRAWS: break;
	}
	return x;
}

/* The length that a letter or a number at *s has; *s moves behind it. 0 where there is none. */
static size_t
length(const state *s, const char **text)
{
	if (**text >= '0' && **text <= '9') {
		char *end;
		size_t n = (size_t)strtoull(*text, &end, 10);
		*text = end;
		return n;
	}
	for (int i = 0; i < LETTERS; i++)
		if (**text == letters[i].letter) {
			(*text)++;
			return s->length[i];
		}
	return 0;
}

/* A number in a row of what is added to attention's scores. The last of several rows masks all. */
static double
mask(state *s, size_t row, size_t rows)
{
	double u = uniform(s), x = normal(s);

	return (rows > 1 && row + 1 == rows) || u < 0.3 ? -INFINITY : u < 0.7 ? 0 : x;
}

/* Draws one operand, whose shape is the text up to a blank, and writes it. */
static hu_status
operand(state *s, const char *shape, values how, const char *path)
{
	size_t d[RANK], n = 1, below = 0, total = 0;
	int rank = 0, positive, masks;

	do
		d[rank++] = length(s, &shape);
	while (rank < RANK && *shape == 'x' && shape++);
	if (*shape == '/') { /* offsets of sequences of together so many rows */
		shape++;
		total = length(s, &shape);
		d[rank - 1]++;
	}
	for (int i = 0; i < rank; i++)
		n *= d[i];
	if (*shape == '%') {
		shape++;
		below = length(s, &shape);
	}
	positive = *shape == '+';
	masks = *shape == '!';
	float *v = hu_xmalloc((n + 1) * sizeof *v);
	size_t w = d[rank - 1];
	for (size_t i = 0; i < n; i++) {
		double x = below      ? hu_floor(uniform(s) * (double)below)
			   : positive ? 0.25 + uniform(s) * 0.7
			   : masks    ? mask(s, i / w, n / w)
				      : number(s, how, i / w, i % w, w);
		if (total) /* the first sequences are short, and the shortest of them empty */
			x = i + 1 == n ? (double)total : hu_floor((double)total * (double)(i * i) / (double)(n * n));
		v[i] = (float)(below || total ? x : hu_round(x, s->f, HU_RNE, 0, 0));
	}
	hu_status st = hu_npy_write(path, "f4", rank, d, v);
	free(v);
	return st;
}

/* Makes a case's folder. An array of another kernel that lies in it would be taken for an operand. */
static hu_status
folder(const hu_composite *c, const char *path)
{
	HU_TRY(hu_make_dirs(path));
	DIR *d = opendir(path);
	if (!d)
		return hu_fail(HU_EIO, "--make: the folder %s cannot be read", hu_shown(path));
	char *all = hu_xprintf(" %s", c->operands);
	hu_status st = HU_OK;
	for (const struct dirent *e; st == HU_OK && (e = readdir(d));) {
		const char *end = strstr(e->d_name, ".npy");
		char *name = hu_xprintf(" %.*s", end ? (int)(end - e->d_name) : 0, e->d_name);
		const char *at = strstr(all, name);
		if (end && !end[4] && !(at && strchr("?:", at[strlen(name)])))
			st = hu_fail(HU_EINVAL, "--make: %s/%s is no operand of %s: name a new folder", hu_shown(path),
				hu_shown(e->d_name), c->name);
		free(name);
	}
	free(all);
	closedir(d);
	return st;
}

/* Whether the list of names, which blanks separate, has the first n characters of name. */
static int
named(const char *list, const char *name, size_t n)
{
	for (const char *s = list; *s; s += strcspn(s, " "), s += *s == ' ')
		if (strcspn(s, " ") == n && !strncmp(s, name, n))
			return 1;
	return 0;
}

/* Whether all names of the list are operands that may be left out and that have a shape to be drawn in. */
static hu_status
can_draw(const hu_composite *c, const char *with)
{
	char *copy = hu_xstrdup(with), *save = NULL;
	hu_status st = HU_OK;

	for (char *w = strtok_r(copy, " ", &save); w && st == HU_OK; w = strtok_r(NULL, " ", &save)) {
		char *mark = hu_xprintf(" %s?:", w), *all = hu_xprintf(" %s", c->operands);
		if (!strstr(all, mark))
			st = hu_fail(HU_EINVAL, "--with %s: %s has no such optional operand to draw; it has: %s",
				hu_shown(w), c->name, c->operands);
		free(mark);
		free(all);
	}
	free(copy);
	return st;
}

/* Removes what was written where no list of it comes to be, the folders with it that are then empty. */
static void
take_back(const char *dir, const json_t *written)
{
	const json_t *path;
	size_t i;

	json_array_foreach(written, i, path)
	{
		char *folder = hu_xstrdup(json_string_value(path));
		unlink(folder);
		*strrchr(folder, '/') = 0;
		rmdir(folder);
		free(folder);
	}
	rmdir(dir);
}

/* One case: a folder and a row of the list. written gets the paths of files that were not there before. */
static hu_status
one_case(const hu_composite *c, state *s, const char *dir, const char *name, values how, const char *with, json_t *list,
	json_t *written)
{
	char *at = hu_xprintf("%s/%s", dir, name), *save = NULL, *copy = hu_xstrdup(c->operands);
	hu_status st = folder(c, at);
	json_t *files = json_object(), *whole = json_array();

	for (char *o = strtok_r(copy, " ", &save); o && st == HU_OK; o = strtok_r(NULL, " ", &save)) {
		char *shape = strchr(o, ':'), *mark = strchr(o, '?');
		if (!shape || (mark && !named(with, o, (size_t)(mark - o))))
			continue;
		*shape++ = 0;
		if (mark)
			*mark = 0;
		char *path = hu_xprintf("%s/%s.npy", at, o);
		if (access(path, F_OK) != 0)
			json_array_append_new(written, json_string(path));
		st = operand(s, shape, how, path);
		json_object_set_new(files, o, json_sprintf("%s/%s.npy", name, o));
		if (strpbrk(shape, "%/"))
			json_array_append_new(whole, json_string(hu_shown(o)));
		free(path);
	}
	json_array_append_new(list, json_pack("{s:s s:s s:s s:o s:o}", "case", name, "values", draws[how].name, "what",
					    draws[how].summary, "inputs", files, "whole", whole));
	free(copy);
	free(at);
	return st;
}

static void
ordinary(state *s)
{
	for (int i = 0; i < LETTERS; i++)
		s->length[i] = letters[i].ordinary;
}

/* Whether an operand that is drawn has the letter in its shape. */
static int
has_letter(const hu_composite *c, char letter)
{
	for (const char *s = strchr(c->operands, ':'); s; s = strchr(s, ':'))
		for (s++; *s && *s != ' '; s++)
			if (*s == letter)
				return 1;
	return 0;
}

hu_status
hu_judge_make(const hu_composite *c, const char *dir, hu_format f, uint64_t seed, const char *with, int *cases)
{
	state s = { .at = hu_mix64(seed), .f = f };
	json_t *list = json_array(), *written = json_array();
	hu_status st = can_draw(c, with);
	char name[64];

	for (int how = 0; how < DRAWS && st == HU_OK; how++) {
		ordinary(&s);
		st = one_case(c, &s, dir, draws[how].name, (values)how, with, list, written);
	}
	for (int i = 0; i < LETTERS && st == HU_OK; i++) {
		const char *b = letters[i].boundaries;
		char *end;
		for (size_t n; has_letter(c, letters[i].letter) && st == HU_OK && (n = strtoull(b, &end, 10)) > 0;
			b = end) {
			ordinary(&s);
			s.length[i] = n;
			snprintf(name, sizeof name, "%c%zu", letters[i].letter, n);
			st = one_case(c, &s, dir, name, DRAW_normal, with, list, written);
		}
	}
	*cases = (int)json_array_size(list);
	char *path = hu_xprintf("%s/cases.json", dir), *text = json_dumps(list, JSON_INDENT(1));
	if (st == HU_OK)
		st = hu_file_write(path, text, strlen(text));
	if (st != HU_OK)
		take_back(dir, written);
	json_decref(written);
	free(text);
	free(path);
	json_decref(list);
	return st;
}
