/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/rows/outputs.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <stdlib.h>
#include <string.h>

static const char *const ends[] = { ".tex", ".md", ".tsv", ".json", ".svg", ".png", ".pdf" };
enum { ENDS = sizeof ends / sizeof *ends };

/* Returns 1 where the name ends so. */
static int
ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

/* Returns which of the ends the name has, ENDS where it has none. */
static int
end_of(const char *name)
{
	int k = 0;

	while (k < ENDS && !ends_in(name, ends[k]))
		k++;
	return k;
}

/* Returns how long the key before '=' is: a word with dots in it, or the name of a table that ends in .tsv; 0 where the
   whole value is a file's name. */
static size_t
key_length(const char *value)
{
	const char *equal = strchr(value, '=');
	size_t n = equal ? (size_t)(equal - value) : 0;

	if (n && memchr(value, '/', n) && (n < 4 || memcmp(equal - 4, ".tsv", 4)))
		return 0;
	return n;
}

/* Returns the row of the command's own -o; NULL where it has none. */
static const hu_opt *
own_row(const hu_command *c)
{
	const hu_opt *o = c->opts;

	while (o->name && strcmp(o->name, "out"))
		o++;
	return o->name ? o : NULL;
}

/* Returns the end of names that the command alone writes, such as ".dot"; NULL where there is none. */
static const char *
own_end(const hu_command *c)
{
	const hu_opt *o = own_row(c);

	return o && !strncmp(o->arg, "FILE.", 5) && end_of(o->arg) == ENDS ? o->arg + 4 : NULL;
}

int
hu_outputs_is_own(const hu_command *c, const hu_args *a, const char *value)
{
	const hu_opt *o = own_row(c);

	if (!o || key_length(value))
		return 0;
	int k = end_of(value);
	if (k <= HU_OUTPUT_TSV &&
		(hu_args_given(a, "columns") || hu_args_given(a, "where") || hu_args_given(a, "digits")))
		return 0;
	if (k == ENDS)
		return strncmp(o->arg, "FILE.", 5) != 0 || (own_end(c) && ends_in(value, own_end(c)));
	return strstr(o->arg, ends[k]) != NULL;
}

int
hu_output_is_drawn(const hu_output *o)
{
	return o->kind >= HU_OUTPUT_SVG;
}

static hu_status
read_one(hu_output *o, const hu_command *c, const char *value)
{
	const char *own = own_end(c);
	size_t n = key_length(value);
	int k = end_of(value);

	o->file = value + (n ? n + 1 : 0);
	if (n)
		o->key = hu_xprintf("%.*s", (int)n, value);
	if (k == ENDS)
		return hu_fail(HU_EINVAL,
			"-o %s: the end of the name says what is written; .tsv, .json, .md or .tex is needed for rows, "
			".svg, .png or .pdf for a picture%s%s",
			hu_shown(o->file), own ? ", and here there is " : "", own ? own : "");
	o->kind = (hu_output_kind)k;
	if (n && o->kind >= HU_OUTPUT_JSON)
		return hu_fail(HU_EINVAL, "-o %s: a name before = chooses a table for .tsv, .md or .tex; leave it out",
			hu_shown(value));
	return HU_OK;
}

/* NAME.tex is a figure where NAME.pdf is written too. */
static void
pair(hu_outputs *o)
{
	for (int i = 0; i < o->n; i++)
		for (int k = 0; k < o->n && o->of[i].kind == HU_OUTPUT_TEX && !o->of[i].key; k++) {
			size_t n = strlen(o->of[i].file);
			if (o->of[k].kind == HU_OUTPUT_PDF && strlen(o->of[k].file) == n &&
				!memcmp(o->of[i].file, o->of[k].file, n - 3))
				o->of[i].kind = HU_OUTPUT_FIGURE;
		}
}

hu_status
hu_outputs_read(hu_outputs *o, const hu_command *c, const hu_args *a)
{
	const char *value;

	memset(o, 0, sizeof *o);
	o->of = hu_xcalloc((size_t)a->neach + 1, sizeof *o->of);
	for (int i = 0; (value = hu_args_nth(a, "out", i)); i++)
		if (!hu_outputs_is_own(c, a, value))
			HU_TRY(read_one(&o->of[o->n++], c, value));
	pair(o);
	return HU_OK;
}

void
hu_outputs_release(hu_outputs *o)
{
	for (int i = 0; i < o->n; i++)
		free(o->of[i].key);
	free(o->of);
	memset(o, 0, sizeof *o);
}
