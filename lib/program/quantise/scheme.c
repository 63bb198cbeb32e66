/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/quantise/scheme.h"

#include "lib/base/console/opt.h"
#include "lib/base/show.h"
#include "lib/base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
	const char *name, *alias;
	hu_scheme_kind kind;
	int bits;
	hu_format_id element;
	hu_grain grain;
	size_t group;
	hu_activations activations;
	const char *words;
} row;

static const row rows[] = {
#define SCHEME(name, alias, kind, bits, element, weights, group, activations, words, summary)                          \
	{ name, alias, HU_SCHEME_##kind, bits, element, HU_GRAIN_##weights, group, HU_ACTIVATIONS_##activations,       \
		words },
#include "lib/program/quantise/schemes.def"
#undef SCHEME
};

static const struct {
	const char *name;
} words[] = {
#define WORD(name, member, value, summary) { name },
#include "lib/program/quantise/words.def"
#undef WORD
};

enum { ROWS = sizeof rows / sizeof *rows, WORDS = sizeof words / sizeof *words };

/* The row whose name or alias the N characters are. */
static const row *
find(const char *text, size_t n)
{
	for (int i = 0; i < ROWS; i++)
		if ((strlen(rows[i].name) == n && !strncmp(rows[i].name, text, n)) ||
			(n && strlen(rows[i].alias) == n && !strncmp(rows[i].alias, text, n)))
			return &rows[i];
	return NULL;
}

/* Finds a block format of float elements, with its words. Names of integers are schemes of their own. */
static hu_status
find_block(const char *text, hu_block *b)
{
	HU_TRY(hu_block_find(text, b));
	return b->element == HU_NO_FORMAT ? hu_fail(HU_EABSENT, "'%s' has integers", hu_shown(text)) : HU_OK;
}

/* Copies the name of a block format, with its words, without what says that activations have blocks of their own;
   returns whether that was there. */
static int
without_dynamic(char *to, size_t size, const char *text)
{
	size_t n = strlen(text), m = strlen(":dynamic");
	int is = n > m && !strcmp(text + n - m, ":dynamic");

	snprintf(to, size, "%.*s", (int)(is ? n - m : n), text);
	return is;
}

/* Reads a block format of float elements as a scheme. */
static hu_status
read_block(hu_scheme *s, const char *text)
{
	char name[sizeof s->name];
	int dynamic = without_dynamic(name, sizeof name, text);

	HU_TRY(find_block(name, &s->block));
	if (strlen(name) >= sizeof s->blocks || (dynamic && s->block.rows > 1))
		return hu_fail(HU_EINVAL,
			dynamic && s->block.rows > 1 ? "policy '%s': tiles of several rows are for weights; "
						       "activations have blocks of one row, as "
						       "in nvfp4:dynamic"
						     : "policy '%s': the name of its block format is too long",
			hu_shown(text));
	memcpy(s->blocks, name, strlen(name) + 1);
	s->kind = HU_SCHEME_BLOCK;
	s->bits = s->block.bits;
	s->format = HU_NO_FORMAT;
	s->grain = HU_GRAIN_GROUP;
	s->group = s->block.size;
	s->activations = dynamic ? HU_ACTIVATIONS_DYNAMIC : HU_ACTIVATIONS_NONE;
	return HU_OK;
}

/* Writes TEXT in small letters, as all names and words of schemes are; what does not fit is no scheme. */
static const char *
small(char *to, size_t size, const char *text)
{
	size_t n = strlen(text) < size ? strlen(text) : size - 1;

	for (size_t i = 0; i < n; i++)
		to[i] = (char)tolower((unsigned char)text[i]);
	to[n] = 0;
	return to;
}

int
hu_scheme_is(const char *as_written)
{
	char room[sizeof((hu_scheme *)NULL)->name], bare[sizeof((hu_scheme *)NULL)->name];
	const char *text = small(room, sizeof room, as_written);
	hu_block b;
	size_t n = strcspn(text, ":");
	const row *r = find(text, n);
	hu_format_id f;

	without_dynamic(bare, sizeof bare, text);
	if (!r && find_block(bare, &b) == HU_OK)
		return 1;
	if (!r && hu_format_find(text, &f) == HU_OK)
		return hu_format_of(f).bits > 8 && hu_format_of(f).bits < 32 && f != HU_TF32;
	return r && (text[n] || r->kind != HU_SCHEME_FLOAT8);
}

/* The word that TEXT is, whose number follows it; *number gets that, -1 where there is none. */
static int
word_of(const char *text, double *number)
{
	char digits[32];

	*number = -1;
	for (int i = 0; i < WORDS; i++) {
		size_t n = strlen(words[i].name);
		int numbered = !strcmp(words[i].name, "g") || !strcmp(words[i].name, "percentile") ||
			       !strcmp(words[i].name, "history") || !strcmp(words[i].name, "margin");
		if (strncmp(words[i].name, text, n))
			continue;
		if (!text[n])
			return i;
		snprintf(digits, sizeof digits, "%s", text + n);
		if (numbered && text[n] >= '0' && text[n] <= '9' && hu_parse_real(digits, number))
			return i;
	}
	return -1;
}

/* 1 where LIST, words with blanks between, has WORD. */
static int
has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = strstr(list, word); s; s = strstr(s + 1, word))
		if ((s == list || s[-1] == ' ') && (!s[n] || s[n] == ' '))
			return 1;
	return 0;
}

static void
set(hu_scheme *s, int i)
{
	int at = 0;

#define WORD(name, member, value, summary)                                                                             \
	if (at++ == i)                                                                                                 \
		s->member = value;
#include "lib/program/quantise/words.def"
#undef WORD
}

static hu_status
add_word(hu_scheme *s, const row *r, const char *text)
{
	double number;
	int i = word_of(text, &number);

	if (i < 0 || !has(r->words, words[i].name))
		return hu_fail(HU_EINVAL, "policy '%s': '%s' is no word of %s; its words: %s", hu_shown(s->name),
			hu_shown(text), r->name, *r->words ? r->words : "none");
	set(s, i);
	if (!strcmp(words[i].name, "g")) {
		if (!(number >= 2 && number <= 1 << 20) || number != (double)(long)number)
			return hu_fail(HU_EINVAL, "policy '%s': gN needs a whole number from 2 to 2^20, as in g128",
				hu_shown(s->name));
		s->group = (size_t)number;
	}
	if (!strcmp(words[i].name, "history") && number >= 0) {
		if (!(number >= 1 && number <= 1 << 20) || number != (double)(long)number)
			return hu_fail(HU_EINVAL, "policy '%s': a history has a whole number of batches, 1 to 2^20",
				hu_shown(s->name));
		s->history = (size_t)number;
	}
	if (!strcmp(words[i].name, "margin")) {
		if (!(number >= 0 && number <= 16) || number != (double)(long)number)
			return hu_fail(
				HU_EINVAL, "policy '%s': marginN needs a whole number from 0 to 16", hu_shown(s->name));
		s->margin = number;
	}
	if (!strcmp(words[i].name, "percentile") && number >= 0) {
		if (!(number > 50 && number <= 100))
			return hu_fail(
				HU_EINVAL, "policy '%s': a percentile is above 50 and at most 100", hu_shown(s->name));
		s->percent = number;
	}
	return HU_OK;
}

/* Words that would have no effect are refused. */
static hu_status
settle(const hu_scheme *s, const char *text)
{
	int is_static = s->activations == HU_ACTIVATIONS_STATIC;
	const char *why = NULL;

	if (s->grain == HU_GRAIN_GROUP && s->activations != HU_ACTIVATIONS_NONE)
		why = "groups of a sum's terms have scales of their own only where weights alone are quantised: add "
		      ":weights";
	else if (s->calibration != HU_CALIBRATION_MAX && !is_static)
		why = "scales are calibrated only where they are static";
	else if (s->margin != 0 && s->calibration != HU_CALIBRATION_HISTORY)
		why = "a margin is one of a history's scale: add :history";
	else if (s->biases && !is_static)
		why = "biases become codes by scales that are static";
	else if (s->pairs16 && s->activations == HU_ACTIVATIONS_NONE)
		why = "pairs16 is of products of integers, and with weights alone there are none";
	else if (s->pairs16 && !s->asymmetric)
		why = "pairs16 is of unsigned activations, and symmetric ones have signs";
	else if (s->activations == HU_ACTIVATIONS_DYNAMIC && s->kind == HU_SCHEME_INTEGER && !s->asymmetric)
		why = "dynamic scales have zero points";
	else if (s->activations == HU_ACTIVATIONS_NONE && s->kind == HU_SCHEME_INTEGER && s->grain != HU_GRAIN_GROUP &&
		 s->asymmetric && strstr(text, ":asym"))
		why = "one scale a tensor or a channel of weights is symmetric: give gN";
	return why ? hu_fail(HU_EINVAL, "policy '%s': %s", hu_shown(text), why) : HU_OK;
}

hu_status
hu_scheme_parse(hu_scheme *s, const char *as_written)
{
	char room[sizeof s->name];
	const char *text = small(room, sizeof room, as_written);
	size_t n = strcspn(text, ":");
	const row *r = find(text, n);
	char all[sizeof s->name], *save = NULL;
	hu_format_id f;

	*s = (hu_scheme){ .format = HU_FP32, .percent = 99.999, .history = 1024 };
	snprintf(s->name, sizeof s->name, "%s", text);
	if (strlen(as_written) >= sizeof s->name)
		return hu_fail(HU_EINVAL, "policy '%.40s…' is longer than any that there is", hu_shown(as_written));
	if (!r || r->kind == HU_SCHEME_BLOCK) {
		hu_status st = read_block(s, text);
		if (st == HU_OK || r || st == HU_EINVAL)
			return st;
	}
	if (!r) {
		if (hu_format_find(text, &f) != HU_OK || hu_format_of(f).bits <= 8)
			return hu_fail(HU_EABSENT,
				"'%s' is no format of more than 8 bits and no scheme (int8, int4:g128, "
				"e4m3, nvfp4 …)",
				hu_shown(as_written));
		s->format = f;
		s->bits = hu_format_of(f).bits;
		return HU_OK;
	}
	s->kind = r->kind;
	s->bits = r->bits;
	s->format = r->element;
	s->grain = r->grain;
	s->group = r->group;
	s->activations = r->activations;
	s->asymmetric = r->kind == HU_SCHEME_INTEGER && r->activations != HU_ACTIVATIONS_NONE;
	if (r->kind == HU_SCHEME_FLOAT8 && !text[n])
		s->activations = HU_ACTIVATIONS_DYNAMIC;
	snprintf(all, sizeof all, "%s", text + n);
	for (char *w = strtok_r(all, ":", &save); w; w = strtok_r(NULL, ":", &save))
		HU_TRY(add_word(s, r, w));
	if (text[n] && text[strlen(text) - 1] == ':')
		return hu_fail(HU_EINVAL, "policy '%s' ends in a colon without a word", hu_shown(text));
	if (s->activations == HU_ACTIVATIONS_NONE && !strstr(text, ":asym"))
		s->asymmetric = 0;
	return settle(s, text);
}
