/* SPDX-License-Identifier: Apache-2.0
   A tool's name and its options as one text. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/console/opt.h"
#include "lib/base/console/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum argument { NONE, TYPE, LIST, PERCENT };

static const struct row {
	const char *name, *words, *summary;
} rows[] = {
#define TOOL(name, code, words, summary) { name, words, summary },
#include "lib/import/tool/tools.def"
#undef TOOL
};

static const struct word {
	const char *name;
	enum argument argument;
	const char *summary;
} words[] = {
#define WORD(name, value, summary) { name, value, summary },
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

const char *
hu_tool_word(int i, const char **summary)
{
	if (i < 0 || i >= WORDS)
		return NULL;
	*summary = words[i].summary;
	return words[i].name;
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

int
hu_tool_calibrates(const hu_tool *t)
{
	return hu_rewriting_has(rows[t->row].words, "percentile");
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
list(hu_tool_list *l, char *value)
{
	char *save = NULL;

	if (*value == '@')
		return add_file(l, value + 1);
	for (char *s = strtok_r(value, "+", &save); s; s = strtok_r(NULL, "+", &save))
		add(l, s);
	return HU_OK;
}

static hu_status
type(int *to, const char *value, const char *text)
{
	*to = !strcmp(value, "int8") ? HU_ONNX_INT8 : !strcmp(value, "uint8") ? HU_ONNX_UINT8 : 0;
	return *to ? HU_OK
		   : hu_fail(HU_EINVAL, "policy '%s': '%s' is neither int8 nor uint8", hu_shown(text), hu_shown(value));
}

/* Sets what word W, with this value, stands for. */
static hu_status
set(hu_tool *t, const char *w, char *value, const char *text)
{
	static char none[1];

	if (!strcmp(w, "per_channel"))
		t->per_channel = 1;
	else if (!strcmp(w, "reduce_range"))
		t->reduce_range = 1;
	else if (!strcmp(w, "symmetric_activations"))
		t->symmetric = 1;
	else if (!strcmp(w, "moving_average"))
		t->moving_average = 1;
	else if (!strcmp(w, "keep_io_types"))
		t->keep_io = 1;
	else if (!strcmp(w, "ort-cpu"))
		t->ort_cpu = t->optimised = 1;
	else if (!strcmp(w, "ort-cpu-disable_all")) {
		t->ort_cpu = 1;
		t->optimised = 0;
	} else if (!strcmp(w, "block"))
		return list(&t->block, value ? value : none);
	else if (!strcmp(w, "op_block"))
		return list(&t->op_block, value ? value : none);
	else if (!strcmp(w, "activation_type"))
		return type(&t->activation_type, value ? value : none, text);
	else if (!strcmp(w, "weight_type"))
		return type(&t->weight_type, value ? value : none, text);
	else if (!strcmp(w, "op_types"))
		return list(&t->op_types, value ? value : none);
	else if (!strcmp(w, "nodes"))
		return list(&t->nodes, value ? value : none);
	else if (!strcmp(w, "exclude"))
		return list(&t->exclude, value ? value : none);
	else if (!strcmp(w, "percentile")) {
		t->percent = 99.999;
		if (value && (!hu_parse_real(value, &t->percent) || !(t->percent > 50 && t->percent <= 100)))
			return hu_fail(
				HU_EINVAL, "policy '%s': a percentile is above 50 and at most 100", hu_shown(text));
	} else
		hu_bug(__FILE__, __LINE__, "no code for the word %s", w);
	return HU_OK;
}

/* WORD, WORD=VALUE, or WORDNUMBER. */
static hu_status
add_word(hu_tool *t, char *word, const char *text)
{
	const struct row *r = &rows[t->row];

	for (int i = 0; i < WORDS; i++) {
		size_t n = strlen(words[i].name);
		enum argument a = words[i].argument;
		if (strncmp(words[i].name, word, n) || !hu_rewriting_has(r->words, words[i].name))
			continue;
		if (!word[n] && a != TYPE && a != LIST)
			return set(t, words[i].name, NULL, text);
		if ((word[n] == '=' && (a == TYPE || a == LIST)) || (word[n] && a == PERCENT))
			return set(t, words[i].name, word + n + (a != PERCENT), text);
	}
	return hu_fail(HU_EINVAL, "policy '%s': '%s' is no word of %s; its words: %s", hu_shown(text), hu_shown(word),
		r->name, r->words);
}

hu_status
hu_tool_parse(hu_tool *t, const char *text)
{
	char *all = hu_xstrdup(text), *save = NULL;
	hu_status st = HU_OK;

	*t = (hu_tool){ .row = row_of(text), .activation_type = HU_ONNX_INT8, .weight_type = HU_ONNX_INT8 };
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
	release(&t->op_types);
	release(&t->nodes);
	release(&t->exclude);
	release(&t->block);
	release(&t->op_block);
}
