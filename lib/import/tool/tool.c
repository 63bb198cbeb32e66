/* SPDX-License-Identifier: Apache-2.0
   A tool's name and its options as one text. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/console/opt.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What a word of KIND sets: how its value is written (NOTHING, behind a '=', or GLUED to the word), and the code that
   reads it. */
typedef enum { NOTHING, BEHIND, GLUED } place;
typedef hu_status setter(void *member, char *value, const char *text);
static setter set_flag, set_type, set_block, set_level, set_percent, set_real, set_count,
	set_list;

enum kind { FLAG, TYPE, BLOCK, LEVEL, PERCENT, REAL, COUNT, LIST };
static const struct {
	place place;
	setter *set;
} kinds[] = {
	[FLAG] = { NOTHING, set_flag },
	[TYPE] = { BEHIND, set_type },
	[BLOCK] = { BEHIND, set_block },
	[LEVEL] = { BEHIND, set_level },
	[PERCENT] = { GLUED, set_percent },
	[REAL] = { BEHIND, set_real },
	[COUNT] = { BEHIND, set_count },
	[LIST] = { BEHIND, set_list },
};

static const struct row {
	const char *name;
	hu_tool_calibration calibrates;
	enum { ANYWHERE, ORT } runs;
	const char *words, *summary;
} rows[] = {
#define TOOL(name, code, calibrates, runs, words, summary) { name, HU_TOOL_##calibrates, runs, words, summary },
#include "lib/import/tool/tools.def"
#undef TOOL
};

static const struct word {
	const char *name;
	enum kind kind;
	size_t member;
} words[] = {
#define WORD(name, kind, member, otherwise, summary) { name, kind, offsetof(hu_tool, member) },
#include "lib/import/tool/tool_words.def"
#undef WORD
};

static const hu_tool without = {
#define WORD(name, kind, member, otherwise, summary) .member = HU_OTHERWISE_##kind(otherwise),
#define HU_OTHERWISE_FLAG(x) x
#define HU_OTHERWISE_TYPE(x) x
#define HU_OTHERWISE_BLOCK(x) x
#define HU_OTHERWISE_LEVEL(x) x
#define HU_OTHERWISE_PERCENT(x) x
#define HU_OTHERWISE_REAL(x) x
#define HU_OTHERWISE_COUNT(x) x
#define HU_OTHERWISE_LIST(x)                                                                                           \
	{                                                                                                              \
		0, 0, 0                                                                                                \
	}
#include "lib/import/tool/tool_words.def"
#undef WORD
};

enum { ROWS = sizeof rows / sizeof *rows, WORDS = sizeof words / sizeof *words };

const char *
hu_tool_row(int i, const char **its_words, const char **summary)
{
	if (i < 0 || i >= ROWS)
		return NULL;
	*its_words = rows[i].words;
	*summary = rows[i].summary;
	return rows[i].name;
}

static int
row_of(const char *text)
{
	size_t n = strcspn(text, ":,");

	for (int i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == n && !strncmp(rows[i].name, text, n))
			return i;
	return -1;
}

int
hu_tool_is(const char *text)
{
	return row_of(text) >= 0;
}

hu_tool_calibration
hu_tool_calibrates(const hu_tool *t)
{
	return rows[t->row].calibrates;
}

int
hu_tool_runs_on_ort(const hu_tool *t)
{
	return rows[t->row].runs == ORT || t->optimised || t->plain_cpu;
}

static void
add(hu_tool_list *l, const char *name)
{
	HU_GROW(l->name, l->n, l->cap);
	l->name[l->n++] = hu_xstrdup(name);
}

/* A JSON list of names. */
static hu_status
add_file(hu_tool_list *l, const char *path)
{
	json_error_t e;
	json_t *one;
	char *text;
	size_t n, i;

	HU_TRY(hu_file_read(path, &text, &n));
	json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
	free(text);
	if (!json_is_array(j)) {
		json_decref(j);
		return hu_fail(HU_EFILE, "%s: it must hold a JSON list of names", hu_shown(path));
	}
	hu_status st = HU_OK;
	json_array_foreach(j, i, one)
	{
		if (st == HU_OK && !json_is_string(one))
			st = hu_fail(HU_EFILE, "%s: entry %zu is no name", hu_shown(path), i);
		else if (st == HU_OK)
			add(l, json_string_value(one));
	}
	json_decref(j);
	return st;
}

static hu_status
set_list(void *member, char *value, const char *text)
{
	char *save = NULL;
	(void)text;

	if (*value == '@')
		return add_file(member, value + 1);
	for (char *s = strtok_r(value, "+", &save); s; s = strtok_r(NULL, "+", &save))
		add(member, s);
	return HU_OK;
}

static hu_status
set_flag(void *member, char *value, const char *text)
{
	(void)value;
	(void)text;
	*(int *)member = 1;
	return HU_OK;
}

static hu_status
set_type(void *member, char *value, const char *text)
{
	int type = !strcmp(value, "int8") ? HU_ONNX_INT8 : !strcmp(value, "uint8") ? HU_ONNX_UINT8 : 0;

	if (!type)
		return hu_fail(
			HU_EINVAL, "policy '%s': '%s' is neither int8 nor uint8", hu_shown(text), hu_shown(value));
	*(int *)member = type;
	return HU_OK;
}

/* Blocks that MatMulNBits has. */
static hu_status
set_block(void *member, char *value, const char *text)
{
	double x = 0;

	if (!hu_parse_real(value, &x) || !(x == 16 || x == 32 || x == 64 || x == 128 || x == 256))
		return hu_fail(HU_EINVAL, "policy '%s': a block has 16, 32, 64, 128 or 256 weights, and not '%s'",
			hu_shown(text), hu_shown(value));
	*(int *)member = (int)x;
	return HU_OK;
}

static hu_status
set_level(void *member, char *value, const char *text)
{
	if (!*value || value[1] || *value < '0' || *value > '4')
		return hu_fail(HU_EINVAL, "policy '%s': an accuracy level is 0, 1, 2, 3 or 4, and not '%s'",
			hu_shown(text), hu_shown(value));
	*(int *)member = *value - '0';
	return HU_OK;
}

static hu_status
set_percent(void *member, char *value, const char *text)
{
	double x = 99.999;

	if (*value && (!hu_parse_real(value, &x) || !(x > 50 && x <= 100)))
		return hu_fail(HU_EINVAL, "policy '%s': a percentile is above 50 and at most 100", hu_shown(text));
	*(double *)member = x;
	return HU_OK;
}

static hu_status
set_real(void *member, char *value, const char *text)
{
	double x = 0;

	if (!hu_parse_real(value, &x) || !(x > 0))
		return hu_fail(HU_EINVAL, "policy '%s': '%s' is no positive number", hu_shown(text), hu_shown(value));
	*(double *)member = x;
	return HU_OK;
}

static hu_status
set_count(void *member, char *value, const char *text)
{
	double x = 0;

	if (!hu_parse_real(value, &x) || !(x >= 1 && x <= INT_MAX && x == floor(x)))
		return hu_fail(HU_EINVAL, "policy '%s': '%s' is no whole number from 1 to %d", hu_shown(text),
			hu_shown(value), INT_MAX);
	*(int *)member = (int)x;
	return HU_OK;
}

/* WORD, WORD=VALUE, or WORDNUMBER. */
static hu_status
add_word(hu_tool *t, char *word, const char *text)
{
	const struct row *r = &rows[t->row];

	for (int i = 0; i < WORDS; i++) {
		size_t n = strlen(words[i].name);
		place at = kinds[words[i].kind].place;
		if (strncmp(words[i].name, word, n) || !hu_rewriting_has(r->words, words[i].name))
			continue;
		if (at == GLUED || (at == BEHIND ? word[n] == '=' : !word[n]))
			return kinds[words[i].kind].set((char *)t + words[i].member, word + n + (at == BEHIND), text);
	}
	return hu_fail(HU_EINVAL, "policy '%s': '%s' is no word of %s; its words: %s", hu_shown(text), hu_shown(word),
		r->name, r->words);
}

hu_status
hu_tool_parse(hu_tool *t, const char *text)
{
	char *all = hu_xstrdup(text), *save = NULL;
	hu_status st = HU_OK;

	*t = without;
	t->row = row_of(text);
	HU_ASSERT(t->row >= 0);
	if (text[strlen(text) - 1] == ':')
		st = hu_fail(HU_EINVAL, "policy '%s' ends in a colon without a word", hu_shown(text));
	strtok_r(all, ":", &save);
	for (char *w = strtok_r(NULL, ":", &save); w && st == HU_OK; w = strtok_r(NULL, ":", &save))
		st = add_word(t, w, text);
	if (st == HU_OK && t->moving_average && t->percent > 0)
		st = hu_fail(HU_EINVAL,
			"policy '%s': a moving average is one of minimum and maximum, which a percentile "
			"replaces",
			hu_shown(text));
	if (st == HU_OK && t->pairs16 && !strcmp(rows[t->row].name, "ort-static") && !t->qoperator && !t->optimised)
		st = hu_fail(HU_EINVAL,
			"policy '%s': pairs16 is of products of codes, which quantize_static's file has with ort-cpu "
			"or qoperator; add one of these",
			hu_shown(text));
	if (st != HU_OK)
		hu_tool_release(t);
	free(all);
	return st;
}

static void
release(hu_tool_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->name[i]);
	free(l->name);
	*l = (hu_tool_list){ NULL, 0, 0 };
}

void
hu_tool_release(hu_tool *t)
{
	for (int i = 0; i < WORDS; i++)
		if (words[i].kind == LIST)
			release((void *)((char *)t + words[i].member));
}
