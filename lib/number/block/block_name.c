/* SPDX-License-Identifier: Apache-2.0
   Names of block formats: a row, a size, and words. */
#include "lib/number/block/block.h"

#include "lib/base/str.h"
#include "lib/number/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct row {
	const char *name, *alias;
	hu_format_id element;
	int bits;
	size_t size;
	hu_block_kind kind;
	hu_format_id scale;
	const char *summary;
} row;

static const row rows[] = {
#define BLOCK(name, alias, element, bits, size, kind, scale, summary)                                                  \
	{ name, alias, element, bits, size, HU_BLOCK_##kind, scale, summary },
#include "lib/number/block/blocks.def"
#undef BLOCK
};

typedef struct rule {
	hu_block_rule id;
	const char *name;
	hu_block_kind kind;
	const char *summary;
} rule;

static const rule rules[] = {
#define BLOCK_RULE(id, name, kind, summary) { HU_BLOCK_##id, name, HU_BLOCK_##kind, summary },
#include "lib/number/block/block_rules.def"
#undef BLOCK_RULE
};

typedef struct maker {
	const char *name;
	hu_block_kind kind;
	hu_block_rule rule;
	hu_mode short_mode, mode;
	hu_block_inf inf;
	float least;
	hu_block_zeros zeros;
	hu_block_four four;
	const char *summary;
} maker;

static const maker makers[] = {
#define BLOCK_MAKER(name, kind, rule, mode4, mode, inf, least, zeros, four, summary)                                   \
	{ name, HU_BLOCK_##kind, HU_BLOCK_##rule, HU_##mode4, HU_##mode, HU_BLOCK_##inf, least,                        \
		HU_BLOCK_ZEROS_##zeros, HU_BLOCK_FOUR_##four, summary },
#include "lib/number/block/block_makers.def"
#undef BLOCK_MAKER
};

enum {
	ROWS = sizeof rows / sizeof *rows,
	RULES = sizeof rules / sizeof *rules,
	MAKERS = sizeof makers / sizeof *makers,
	LARGEST_BLOCK = 1 << 20
};

const char *
hu_block_row(int i, const char **summary)
{
	if (i < 0 || i >= ROWS)
		return NULL;
	*summary = rows[i].summary;
	return rows[i].name;
}

const char *
hu_block_rule_row(int i, hu_block_kind *kind, const char **summary)
{
	if (i < 0 || i >= RULES)
		return NULL;
	*kind = rules[i].kind;
	*summary = rules[i].summary;
	return rules[i].name;
}

const char *
hu_block_maker_row(int i, hu_block_kind *kind, const char **summary)
{
	if (i < 0 || i >= MAKERS)
		return NULL;
	*kind = makers[i].kind;
	*summary = makers[i].summary;
	return makers[i].name;
}

/* Reads a number from min to max at *s and moves *s behind it. Returns 0 where there is none. */
static int
number(const char **s, long min, long max, long *out)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return 0;
	*out = strtol(*s, &end, 10);
	*s = end;
	return *out >= min && *out <= max;
}

static hu_status
bfp(const char *name, hu_block *b)
{
	long bits = 8, size = 32, scale = 8;
	const char *s = name + 3, *from = s;
	int good = number(&s, 2, 8, &bits);

	if (good && tolower((unsigned char)*s) == 'x')
		from = ++s, good = number(&s, 1, LARGEST_BLOCK, &size);
	if (good && tolower((unsigned char)*s) == 's')
		from = ++s, good = number(&s, 2, 8, &scale);
	if (!good || *s)
		return hu_fail(HU_EINVAL,
			"block format '%s', character %d: write bfpB[xSIZE][sK] with 2 <= B <= 8 bits an element, SIZE "
			"up to %d and 2 <= K <= 8 bits of exponent, as in bfp8x16s8",
			name, (int)((good ? s : from) - name) + 1, LARGEST_BLOCK);
	b->element = HU_NO_FORMAT;
	b->bits = (int)bits;
	b->size = (size_t)size;
	b->kind = HU_BLOCK_POWER2;
	b->rule = HU_BLOCK_FLOOR;
	b->scale = HU_NO_FORMAT;
	b->scale_bits = (int)scale;
	return HU_OK;
}

static const row *
row_of(const char *name, size_t n)
{
	for (int i = 0; i < ROWS; i++)
		if ((strlen(rows[i].name) == n && !strncasecmp(rows[i].name, name, n)) ||
			(*rows[i].alias && strlen(rows[i].alias) == n && !strncasecmp(rows[i].alias, name, n)))
			return &rows[i];
	return NULL;
}

/* Finds an "xSIZE" that ends name[0..*n), behind a name that is not empty, and takes it off. Sets *at to where its
   number begins. Returns 0 where there is none. */
static int
take_size(const char *name, size_t *n, size_t *at)
{
	size_t stem = *n;

	while (stem > 0 && isdigit((unsigned char)name[stem - 1]))
		stem--;
	if (stem < 2 || stem == *n || tolower((unsigned char)name[stem - 1]) != 'x')
		return 0;
	*at = stem;
	*n = stem - 1;
	return 1;
}

static hu_status
stem(const char *name, hu_block *b)
{
	size_t n = strlen(name), at[2];
	const char *names[ROWS + 1];
	long size[2] = { 0, 1 };
	int sizes = 0;

	while (sizes < 2 && take_size(name, &n, &at[sizes]))
		sizes++;
	const row *r = row_of(name, n);
	for (int i = 0; r && i < sizes; i++) {
		const char *s = name + at[i];
		if (!number(&s, 1, LARGEST_BLOCK, &size[i]))
			return hu_fail(HU_EINVAL, "block format '%s', character %d: a block has 1 to %d elements", name,
				(int)at[i] + 1, LARGEST_BLOCK);
	}
	if (!r) {
		for (int i = 0; i < ROWS; i++)
			names[i] = rows[i].name;
		names[ROWS] = "bfp8x32s8";
		const char *near = hu_nearest(name, names, ROWS + 1);
		return hu_fail(HU_EABSENT, "unknown block format '%s'; %s%s", name,
			near ? "did you mean " : "known: mxfp8e4m3 … int4zp, bfp8x32s8", near ? near : "");
	}
	b->element = r->element;
	b->bits = r->bits;
	b->size = sizes ? (size_t)size[0] : r->size;
	b->rows = (size_t)size[1];
	b->kind = r->kind;
	b->scale = r->scale;
	b->scale_bits = hu_format_of(b->scale).bits;
	for (int i = RULES - 1; i >= 0; i--)
		if (rules[i].kind == b->kind)
			b->rule = rules[i].id;
	return HU_OK;
}

/* Reads X of "KEY=X", a number or a ratio from 1/4 to 4. */
static int
factor(const char *word, const char *key, float *to)
{
	size_t n = strlen(key);
	char *end;
	double x;

	if (strncasecmp(word, key, n) || word[n] != '=')
		return 0;
	x = strtod(word + n + 1, &end);
	if (*end == '/')
		x /= strtod(end + 1, &end);
	*to = end > word + n + 1 && !*end && x >= 0.25 && x <= 4 ? (float)x : 0;
	return 1;
}

/* Names a word's kind of block for a message: a format that has it. */
static const char *
of_kind(hu_block_kind kind)
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].kind == kind)
			return rows[i].name;
	return "";
}

/* What a word says. A maker says all of it, so that it stands first; every other word changes one thing of that. */
typedef enum subject { MAKER, RULE, FOUR, HEADROOM, TIMES, MODE } subject;

/* Refuses a second word on a subject, and a maker behind words that it would undo. */
static hu_status
once(unsigned *seen, subject is, const char *text, const char *w)
{
	if (*seen >> is & 1)
		return hu_fail(HU_EINVAL,
			"block format '%s': '%s' says what a word before it has said; leave out one of them", text, w);
	if (is == MAKER && *seen)
		return hu_fail(HU_EINVAL,
			"block format '%s': '%s' says who computes so, which the words before it would change; write "
			"it first",
			text, w);
	*seen |= 1u << is;
	return HU_OK;
}

/* Reads a maker or a rule of b's kind. *other: a format that has this word, where b has not; NULL for other words. */
static int
maker_or_rule(hu_block *b, const char *w, subject *is, const char **other)
{
	*other = NULL;
	for (int i = 0; i < MAKERS; i++)
		if (!strcasecmp(w, makers[i].name)) {
			const maker *m = &makers[i];
			*other = of_kind(m->kind);
			if (m->kind != b->kind)
				continue;
			b->rule = m->rule;
			b->inf = m->inf;
			b->least = m->least;
			b->four = m->four;
			b->zeros = b->bits == 4 ? m->zeros : HU_BLOCK_ZEROS_KEPT;
			b->mode = b->element == HU_NO_FORMAT ? HU_RNE : b->bits == 4 ? m->short_mode : m->mode;
			*is = MAKER;
			return 1;
		}
	for (int i = 0; i < RULES; i++)
		if (!strcasecmp(w, rules[i].name)) {
			*other = of_kind(rules[i].kind);
			if (rules[i].kind != b->kind)
				continue;
			b->rule = rules[i].id;
			*is = RULE;
			return 1;
		}
	return 0;
}

static hu_status
add_word(hu_block *b, unsigned *seen, const char *text, const char *w)
{
	static const char *const fours[] = { "46=none", "46=mse", "46=mae", "46=max" };
	const char *other;
	subject is;

	if (maker_or_rule(b, w, &is, &other))
		return once(seen, is, text, w);
	if (other)
		return hu_fail(
			HU_EINVAL, "block format '%s': '%s' is a rule of formats such as %s alone", text, w, other);
	for (size_t i = 0; i < sizeof fours / sizeof *fours; i++)
		if (!strcasecmp(w, fours[i])) {
			b->four = (hu_block_four)i;
			return b->kind == HU_BLOCK_TWO_LEVEL
				       ? once(seen, FOUR, text, w)
				       : hu_fail(HU_EINVAL, "block format '%s': four over six is for nvfp4", text);
		}
	is = tolower((unsigned char)*w) == 'h' ? HEADROOM : TIMES;
	if (factor(w, "headroom", &b->headroom) || factor(w, "times", &b->times))
		return b->headroom && b->times ? once(seen, is, text, w)
					       : hu_fail(HU_EINVAL,
							 "block format '%s': '%s' needs a number or a ratio from 1/4 "
							 "to 4, as in headroom=17/16",
							 text, w);
	int mode = hu_name_find(hu_mode_names, HU_MODES, w);
	if (mode < 0)
		return hu_fail(HU_EINVAL,
			"block format '%s': '%s' is no word of a block format; a rule for the scale (floor, rceil, "
			"even), "
			"who computes so (te, torchao), a rounding mode, 46=mse, headroom=X or times=X is",
			text, w);
	b->mode = (hu_mode)mode;
	if (b->element == HU_NO_FORMAT && b->mode != HU_RNE)
		return hu_fail(HU_EINVAL, "block format '%s': integers are rounded to nearest even alone", text);
	return once(seen, MODE, text, w);
}

hu_status
hu_block_find(const char *text, hu_block *b)
{
	size_t n = strcspn(text, ":");
	char words[sizeof b->name];
	unsigned seen = 0;

	*b = (hu_block){ .rows = 1, .mode = HU_RNE, .headroom = 1, .times = 1 };
	if (strlen(text) >= sizeof b->name)
		return hu_fail(HU_EABSENT, "unknown block format '%.40s…'", text);
	snprintf(words, sizeof words, "%.*s", (int)n, text);
	HU_TRY(!strncasecmp(text, "bfp", 3) ? bfp(words, b) : stem(words, b));
	snprintf(b->name, sizeof b->name, "%s", text);
	snprintf(words, sizeof words, "%s", text + n);
	for (char *w = words, *next; *w == ':'; w = next) {
		next = ++w;
		next += strcspn(w, ":");
		int more = *next == ':';
		*next = 0;
		if (!*w)
			return hu_fail(HU_EINVAL, "block format '%s': a word is missing behind a colon", text);
		HU_TRY(add_word(b, &seen, text, w));
		*next = more ? ':' : 0;
	}
	return HU_OK;
}
