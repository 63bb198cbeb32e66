/* SPDX-License-Identifier: Apache-2.0
   The data set "tsv:FILE": a sentence and its label a line, separated by tabs, as SST-2 and most sets of sentiment are
   published. A first line with the name label names the columns: sentence (or text, or review) and label. Without one
   the first column is the sentence and the second the label. Sentences become BERT's inputs: [CLS], word pieces, [SEP],
   cut or filled with [PAD] to one length. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "trainer/data/data.h"
#include "trainer/data/wordpiece.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LENGTH = 64, MOST_PIECES = 8192, MOST_LABELS = 256 };

typedef struct sentences {
	const char **text, **label;
	size_t n, room;
	const char *class[MOST_LABELS];
	size_t classes;
} sentences;

/* Ends cell k of the line there and returns it; NULL where there are fewer. The cells before it are ended as well. */
static char *
cell(char *line, size_t k)
{
	for (; k; k--) {
		char *tab = strchr(line, '\t');
		if (!tab)
			return NULL;
		line = tab + 1;
	}
	return line;
}

static void
end_cells(char *line)
{
	for (char *tab; (tab = strchr(line, '\t')); line = tab + 1)
		*tab = 0;
}

/* Finds the columns in a line of names; returns 0 where this is none. */
static int
named(const char *line, size_t *text, size_t *label)
{
	static const char *const names[] = { "sentence", "text", "review", "label" };
	int found = 0;

	for (size_t k = 0;; k++) {
		size_t n = strcspn(line, "\t");
		for (int i = 0; i < 4; i++)
			if (strlen(names[i]) == n && !strncasecmp(line, names[i], n)) {
				*(i < 3 ? text : label) = k;
				found |= i < 3 ? 1 : 2;
			}
		if (!line[n])
			return found == 3;
		line += n + 1;
	}
}

static hu_status
take(sentences *s, const char *path, char *line, size_t number, size_t text, size_t label)
{
	char *t = cell(line, text), *l = cell(line, label);

	if (!t || !l)
		return hu_fail(HU_EFILE, "%s: line %zu has no column %zu, which is the %s", path, number,
			(t ? label : text) + 1, t ? "label" : "sentence");
	end_cells(line);
	if (!*l)
		return hu_fail(HU_EFILE, "%s: line %zu has no label", path, number);
	if (s->n == s->room) {
		s->room = 2 * s->room + 1024;
		s->text = hu_xrealloc(s->text, s->room * sizeof *s->text);
		s->label = hu_xrealloc(s->label, s->room * sizeof *s->label);
	}
	s->text[s->n] = t;
	s->label[s->n++] = l;
	for (size_t k = 0; k <= s->classes; k++)
		if (k == s->classes) {
			if (s->classes == MOST_LABELS)
				return hu_fail(HU_EFILE, "%s: line %zu has the %dth label; there may be %d", path,
					number, MOST_LABELS + 1, MOST_LABELS);
			s->class[s->classes++] = l;
			break;
		} else if (!strcmp(s->class[k], l))
			break;
	return HU_OK;
}

static hu_status
parse(sentences *s, const char *path, char *file)
{
	size_t number = 0, text = 0, label = 1;

	for (char *line = file, *next; *line; line = next) {
		size_t n = strcspn(line, "\n");
		next = line + n + (line[n] == '\n');
		line[n] = 0;
		if (n && line[n - 1] == '\r')
			line[n - 1] = 0;
		number++;
		if (!*line || (number == 1 && named(line, &text, &label)))
			continue;
		HU_TRY(take(s, path, line, number, text, label));
	}
	return s->classes > 1 ? HU_OK
			      : hu_fail(HU_EFILE, "%s: %zu sentences of %zu labels; two labels are needed", path, s->n,
					s->classes);
}

/* Whole numbers by their size, and before other labels, which are in the order of their bytes. */
static int
by_label(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	char *end_x, *end_y;
	long long m = strtoll(x, &end_x, 10), n = strtoll(y, &end_y, 10);
	int p = !*end_x, q = !*end_y;

	if (p && q && m != n)
		return m < n ? -1 : 1;
	return p != q ? q - p : strcmp(x, y);
}

static void
write(const sentences *s, const hu_wordpiece *w, size_t i, size_t length, float *token, unsigned char *mask,
	unsigned char *label, uint32_t *room)
{
	size_t n = hu_wordpiece_tokens(w, s->text[i], room, length - 2);

	if (n > length - 2)
		n = length - 2;
	for (size_t k = 0; k < length; k++) {
		size_t is = k && k <= n  ? room[k - 1]
			    : !k         ? hu_wordpiece_special(w, HU_PIECE_CLS)
			    : k == n + 1 ? hu_wordpiece_special(w, HU_PIECE_SEP)
					 : hu_wordpiece_special(w, HU_PIECE_PAD);
		token[k] = (float)is;
		mask[k] = k < n + 2;
	}
	while (strcmp(s->class[*label], s -> label[i]))
		++*label;
}

static hu_status
fill(hu_dataset *ds, const sentences *s, const hu_wordpiece *w, size_t length, const hu_dataset_options *o)
{
	hu_data_array *tokens, *segments, *mask, *labels;
	size_t pieces = hu_wordpiece_count(w);

	HU_TRY(hu_dataset_add(ds, o, "tokens", HU_ARRAY_FLOATS, hu_shape1(length), pieces, &tokens));
	HU_TRY(hu_dataset_add(ds, o, "segments", HU_ARRAY_BYTES, hu_shape1(length), 2, &segments));
	HU_TRY(hu_dataset_add(ds, o, "mask", HU_ARRAY_BYTES, hu_shape1(length), 2, &mask));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), s->classes, &labels));
	if (o->dimensions_only)
		return HU_OK;
	uint32_t *room = hu_xmalloc(length * sizeof *room);
	for (size_t i = 0; i < s->n; i++)
		write(s, w, i, length, (float *)tokens->values + i * length, (unsigned char *)mask->values + i * length,
			(unsigned char *)labels->values + i, room);
	free(room);
	return HU_OK;
}

static hu_status
make(hu_dataset *ds, sentences *s, const char *path, const hu_dataset_options *o)
{
	size_t length = o->length ? o->length : LENGTH;
	hu_wordpiece *w = NULL;

	if (length < 3)
		return hu_fail(HU_EINVAL, "--data length=%zu: [CLS], a token and [SEP] take three", length);
	HU_TRY(hu_dataset_split(ds, s->n, o->split, path));
	qsort(s->class, s->classes, sizeof *s->class, by_label);
	if (o->word_pieces)
		HU_TRY(hu_wordpiece_read(&w, o->word_pieces));
	else
		w = hu_wordpiece_make(s->text, ds->n_train, MOST_PIECES);
	hu_status st = fill(ds, s, w, length, o);
	hu_wordpiece_free(w);
	return st;
}

hu_status
hu_dataset_tsv(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	sentences s = { .n = 0 };
	char *file;
	size_t n;

	HU_TRY(hu_file_read(arg, &file, &n));
	hu_status st = strlen(file) == n
			       ? parse(&s, arg, file)
			       : hu_fail(HU_EFILE, "%s: byte %zu is 0, so this is no text", arg, strlen(file));
	if (st == HU_OK)
		st = make(ds, &s, arg, o);
	free(s.text);
	free(s.label);
	free(file);
	return st;
}
