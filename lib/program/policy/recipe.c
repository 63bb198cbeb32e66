/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/policy/recipe.h"

#include "lib/base/str.h"
#include "lib/number/block/block.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const hu_block_recipe rows[] = {
#define RECIPE(name, x, w, dg, dw, wx, wg, hadamard, history, summary)                                                 \
	{ name, { x, w, dg, dw, wx, wg }, hadamard, history, 0, 0, 0, summary },
#include "lib/program/policy/recipes.def"
#undef RECIPE
};

enum { ROWS = sizeof rows / sizeof *rows };

const hu_block_recipe *
hu_recipe_row(int i)
{
	return i >= 0 && i < ROWS ? &rows[i] : NULL;
}

hu_status
hu_recipe_find(const char *name, const hu_block_recipe **out)
{
	const char *names[ROWS];

	for (int i = 0; i < ROWS; i++) {
		names[i] = rows[i].name;
		if (!strcasecmp(names[i], name)) {
			*out = &rows[i];
			return HU_OK;
		}
	}
	const char *near = hu_nearest(name, names, ROWS);
	return hu_fail(HU_EINVAL, "policy: recipe=%s is unknown%s%s; mxfp8, nvfp4, mxfp4 and deepseek are some", name,
		near ? "; did you mean " : "", near ? near : "");
}

static const char *const operands[HU_RECIPE_OPERANDS] = { "forward_x", "forward_w", "dgrad_g", "dgrad_w", "wgrad_x",
	"wgrad_g" };
static const char *const products[] = { "forward", "dgrad", "wgrad", NULL };
static const char *const ends[] = { "first", "last", NULL };
static const char *const amaxes[] = { "max", "most_recent" };
static const char *const signs[] = { "fixed", "drawn" };

enum { MOST_STEPS = 65536, MOST_MARGIN = 64 };

/* Returns 1 for a key of delayed scales. */
static int
is_delay(const char *key)
{
	return !strcmp(key, "history") || !strcmp(key, "margin") || !strcmp(key, "amax");
}

int
hu_recipe_is_key(const char *key)
{
	int is = !strcmp(key, "hadamard") || !strcmp(key, "signs") || !strcmp(key, "high") || is_delay(key);

	for (int i = 0; i < HU_RECIPE_OPERANDS; i++)
		is |= !strcmp(key, operands[i]);
	return is;
}

/* Reads words joined by + as bits, in the order of `words`, or "none". Returns -1 where one is unknown, missing or
   there twice. */
static int
bits_of(const char *value, const char *const *words)
{
	char text[64], *rest;
	int bits = 0, i;

	if (!strcmp(value, "none"))
		return 0;
	if (strlen(value) >= sizeof text)
		return -1;
	strcpy(text, value);
	for (char *s = text; s; s = rest) {
		if ((rest = strchr(s, '+')))
			*rest++ = 0;
		for (i = 0; words[i] && strcmp(words[i], s); i++)
			;
		if (!words[i] || bits >> i & 1)
			return -1;
		bits |= 1 << i;
	}
	return bits;
}

static void
print_bits(char *to, size_t room, int bits, const char *const *words)
{
	*to = 0;
	for (int i = 0; words[i]; i++)
		if (bits >> i & 1)
			snprintf(to + strlen(to), room - strlen(to), "%s%s", *to ? "+" : "", words[i]);
	if (!*to)
		snprintf(to, room, "none");
}

static hu_status
set_operand(char to[40], const char *key, const char *value)
{
	hu_block b;

	if (strlen(value) >= 40)
		return hu_fail(
			HU_EINVAL, "policy: %s=%s: the name of a block format has at most 39 characters", key, value);
	if (strcmp(value, "none") && hu_block_find(value, &b) != HU_OK) {
		char why[512];
		snprintf(why, sizeof why, "%s", hu_reason());
		return hu_fail(HU_EINVAL, "policy: %s: %s", key, why);
	}
	strcpy(to, value);
	return HU_OK;
}

/* Sets a key of delayed scales. */
static hu_status
set_delay(hu_policy *p, const char *key, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);
	int whole = *value && !*end;

	if (!strcmp(key, "amax")) {
		for (int i = 0; i < 2; i++)
			if (!strcmp(value, amaxes[i])) {
				p->blocks.recent = i;
				return HU_OK;
			}
		return hu_fail(HU_EINVAL, "policy: amax=%s is unknown; known: max, most_recent", value);
	}
	if (!strcmp(key, "margin")) {
		if (!whole || labs(n) > MOST_MARGIN)
			return hu_fail(HU_EINVAL, "policy: margin=%s: a whole number from -%d to %d is wanted", value,
				MOST_MARGIN, MOST_MARGIN);
		p->blocks.margin = (int)n;
		return HU_OK;
	}
	if (!whole || n < 1 || n > MOST_STEPS)
		return hu_fail(
			HU_EINVAL, "policy: history=%s: a whole number from 1 to %d is wanted", value, MOST_STEPS);
	p->blocks.history = (int)n;
	return HU_OK;
}

hu_status
hu_recipe_set(hu_policy *p, const char *key, const char *value)
{
	for (int i = 0; i < HU_RECIPE_OPERANDS; i++)
		if (!strcmp(key, operands[i]))
			return set_operand(p->blocks.operand[i], key, value);
	if (is_delay(key))
		return set_delay(p, key, value);
	if (!strcmp(key, "signs")) {
		if (strcmp(value, signs[0]) && strcmp(value, signs[1]))
			return hu_fail(HU_EINVAL, "policy: signs=%s is unknown; known: fixed, drawn", value);
		p->blocks.drawn = !strcmp(value, signs[1]);
		return HU_OK;
	}
	int hadamard = !strcmp(key, "hadamard"), bits = bits_of(value, hadamard ? products : ends);
	if (bits < 0)
		return hu_fail(HU_EINVAL,
			hadamard ? "policy: hadamard=%s: none, or products joined by +: forward, dgrad, wgrad"
				 : "policy: high=%s: none, first, last or first+last",
			value);
	if (hadamard)
		p->blocks.hadamard = 1 + bits;
	else
		p->blocks.high = bits;
	return HU_OK;
}

hu_status
hu_recipe_check(const hu_policy *p)
{
	int delay = p->blocks.history || p->blocks.margin || p->blocks.recent,
	    set = p->blocks.hadamard || p->blocks.drawn || p->blocks.high || delay;
	const hu_block_recipe *row = NULL;

	if (delay && *p->recipe && hu_recipe_find(p->recipe, &row) == HU_OK && !row->history)
		return hu_fail(HU_EINVAL,
			"policy: history, margin and amax are of delayed scales, which recipe=%s has not; fp8:delayed "
			"has",
			p->recipe);
	if (p->blocks.drawn && *p->recipe && hu_recipe_find(p->recipe, &row) == HU_OK &&
		!(p->blocks.hadamard ? p->blocks.hadamard - 1 : row->hadamard))
		return hu_fail(HU_EINVAL,
			"policy: signs=drawn has no effect where no product is transformed; hadamard=wgrad transforms "
			"those of weight gradients");

	for (int i = 0; i < HU_RECIPE_OPERANDS; i++)
		set |= *p->blocks.operand[i] != 0;
	return set && !*p->recipe
		       ? hu_fail(HU_EINVAL,
				 "policy: hadamard, signs, high, history, margin, amax and the operands' block "
				 "formats change a recipe: name it before, as in --policy nvfp4,hadamard=none")
		       : HU_OK;
}

void
hu_recipe_to_json(const hu_policy *p, json_t *j)
{
	char text[64];

	for (int i = 0; i < HU_RECIPE_OPERANDS; i++)
		if (*p->blocks.operand[i])
			json_object_set_new(j, operands[i], json_string(p->blocks.operand[i]));
	if (p->blocks.hadamard) {
		print_bits(text, sizeof text, p->blocks.hadamard - 1, products);
		json_object_set_new(j, "hadamard", json_string(text));
	}
	if (p->blocks.drawn)
		json_object_set_new(j, "signs", json_string(signs[1]));
	snprintf(text, sizeof text, "%d", p->blocks.history);
	if (p->blocks.history)
		json_object_set_new(j, "history", json_string(text));
	snprintf(text, sizeof text, "%d", p->blocks.margin);
	if (p->blocks.margin)
		json_object_set_new(j, "margin", json_string(text));
	if (p->blocks.recent)
		json_object_set_new(j, "amax", json_string(amaxes[p->blocks.recent]));
	if (p->blocks.high) {
		print_bits(text, sizeof text, p->blocks.high, ends);
		json_object_set_new(j, "high", json_string(text));
	}
}

hu_status
hu_recipe_of(const hu_policy *p, hu_block_recipe *out)
{
	const hu_block_recipe *row = NULL;

	HU_TRY(hu_recipe_find(p->recipe, &row));
	*out = *row;
	for (int i = 0; i < HU_RECIPE_OPERANDS; i++)
		if (*p->blocks.operand[i])
			out->blocks[i] = strcmp(p->blocks.operand[i], "none") ? p->blocks.operand[i] : "";
	if (p->blocks.hadamard)
		out->hadamard = p->blocks.hadamard - 1;
	if (p->blocks.history)
		out->history = p->blocks.history;
	out->margin = p->blocks.margin;
	out->recent = p->blocks.recent;
	out->drawn = p->blocks.drawn;
	return HU_OK;
}
