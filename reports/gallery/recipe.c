/* SPDX-License-Identifier: Apache-2.0
   Reads the head of a figure's script: comment lines "# KEY WORDS: TEXT" (the colon has a blank behind it), continued
   by lines with two blanks more. title, caption   with {expression} or {expression|%format} where gnuplot fills in
   numbers source           the paper that the figure is about run              a command that leaves files in the
   working folder data [PART] [/KEY] [TAG=VALUES]   a command that prints a table; VALUES are a,b,c or A..B table [PART]
   [TAG=VALUES]         a file among those that commands left take [PART]      the table's columns, and "where
   COLUMN=A|B" for the rows that are kept; a column NAME? has "-" where a row lacks it */
#include "reports/gallery/gallery.h"

#include "lib/base/mem.h"
#include "reports/figure.h"

#include <stdlib.h>
#include <string.h>

static hu_status
wrong(const hu_recipe *r, const char *key, const char *why)
{
	return hu_fail(HU_EFILE, "reports/%s/%s.gp: the head's line '%s' %s", r->folder, r->name, key, why);
}

static char *
copy(const char *s, size_t n)
{
	return hu_xprintf("%.*s", (int)n, s);
}

/* Sets part, at and tag from the words between the key and the colon. */
static void
words_of(hu_recipe_line *l, char *words)
{
	char *save = NULL, *equals;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (*w == '/') {
			l->at = hu_xstrdup(w + 1);
		} else if ((equals = strchr(w, '='))) {
			l->tag = copy(w, (size_t)(equals - w));
			l->tag_values = hu_xstrdup(equals + 1);
		} else {
			free(l->part);
			l->part = hu_xstrdup(w);
		}
	}
}

/* Takes one entry of the head: its key with its words, and its text. */
static hu_status
entry(hu_recipe *r, char *key, const char *text)
{
	size_t n = strcspn(key, " ");
	char **to = !strcmp(key, "title")     ? &r->title
		    : !strcmp(key, "caption") ? &r->caption
		    : !strcmp(key, "source")  ? &r->source
					      : NULL;
	static const char *const kinds[] = { "run", "data", "table" };

	if (to) {
		free(*to);
		*to = hu_xstrdup(text);
		return HU_OK;
	}
	for (int k = 0; k < 3; k++)
		if (strlen(kinds[k]) == n && !strncmp(key, kinds[k], n)) {
			HU_GROW(r->line, r->lines, r->lines_cap);
			hu_recipe_line *l = &r->line[r->lines++];
			*l = (hu_recipe_line){ (hu_recipe_kind)k, hu_xstrdup(""), NULL, NULL, NULL, hu_xstrdup(text) };
			words_of(l, key + n);
			return k == HU_RECIPE_TABLE || !strncmp(text, "halfulp ", 8)
				       ? HU_OK
				       : wrong(r, key, "is no command of halfulp");
		}
	if (n == 4 && !strncmp(key, "take", 4)) {
		HU_GROW(r->take, r->takes, r->takes_cap);
		r->take[r->takes++] = (hu_recipe_take){ hu_xstrdup(key[n] ? key + n + 1 : ""), hu_xstrdup(text) };
		return HU_OK;
	}
	return wrong(r, key, "has a key that is none of title, caption, source, run, data, table, take");
}

/* Goes through the lines of the head, which ends with the first that is no comment. */
static hu_status
head(hu_recipe *r)
{
	hu_str all;
	char *key = NULL;
	hu_status st = HU_OK;

	hu_str_init(&all);
	for (const char *s = r->script; st == HU_OK; s += strcspn(s, "\n"), s += *s == '\n') {
		size_t n = strcspn(s, "\n"), words = 0, colon = 0;
		int more = *s == '#' && !strncmp(s, "#  ", 3);
		if (more && key) {
			size_t blank = 1 + strspn(s + 1, " ");
			hu_str_add(&all, " ");
			hu_str_addn(&all, s + blank, n - blank);
			continue;
		}
		if (key)
			st = entry(r, key, all.s);
		free(key);
		key = NULL;
		hu_str_release(&all);
		hu_str_init(&all);
		if (*s != '#')
			break;
		if (st != HU_OK || !strncmp(s, "# SPDX", 6) || n < 3)
			continue;
		for (words = 2; words < n && strncmp(s + words, ": ", 2); words++)
			;
		colon = words;
		if (colon + 2 > n) {
			st = wrong(r, s, "has no colon");
			break;
		}
		key = copy(s + 2, colon - 2);
		hu_str_addn(&all, s + colon + 2, n - colon - 2);
	}
	free(key);
	hu_str_release(&all);
	if (st == HU_OK && (!r->title || !r->caption || !r->takes))
		st = hu_fail(HU_EFILE, "reports/%s/%s.gp: its head lacks a title, a caption or a take line", r->folder,
			r->name);
	return st;
}

hu_status
hu_recipe_read(hu_recipe *r, const char *folder, const char *name)
{
	char *path = hu_xprintf("%s/%s.gp", folder, name);
	size_t n;

	memset(r, 0, sizeof *r);
	r->folder = folder;
	r->name = name;
	hu_status st = hu_report_source(path, &r->script, &n);
	free(path);
	return st == HU_OK ? head(r) : st;
}

void
hu_recipe_release(hu_recipe *r)
{
	for (int i = 0; i < r->lines; i++) {
		hu_recipe_line *l = &r->line[i];
		free(l->part);
		free(l->at);
		free(l->tag);
		free(l->tag_values);
		free(l->text);
	}
	for (int i = 0; i < r->takes; i++) {
		free(r->take[i].part);
		free(r->take[i].columns);
	}
	free(r->line);
	free(r->take);
	free(r->title);
	free(r->caption);
	free(r->source);
	free(r->script);
	memset(r, 0, sizeof *r);
}

/* Appends a command that stands for several, one for each value of its tag: the first, and which values follow. */
static void
add_command(hu_str *b, const hu_recipe_line *l)
{
	char *mark = l->tag ? hu_xprintf("{%s}", l->tag) : NULL;
	const char *at = mark ? strstr(l->text, mark) : NULL;

	hu_str_add(b, b->len ? "; " : "");
	if (at)
		hu_str_addf(b, "%.*s%.*s%s (%s: %s)", (int)(at - l->text), l->text, (int)strcspn(l->tag_values, ", "),
			l->tag_values, at + strlen(mark), l->tag, l->tag_values);
	else
		hu_str_add(b, l->text);
	free(mark);
}

char *
hu_recipe_commands(const hu_recipe *r)
{
	hu_str b;

	hu_str_init(&b);
	for (int i = 0; i < r->lines; i++)
		if (r->line[i].kind != HU_RECIPE_TABLE)
			add_command(&b, &r->line[i]);
	return b.s;
}
