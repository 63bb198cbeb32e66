/* SPDX-License-Identifier: Apache-2.0
   Prints the page of a block format: elements of few bits and the scale that they share. */
#include "analyzers/formats/format_page.h"

#include "analyzers/value/rows.h"
#include "lib/base/str.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>

const char *
hu_block_element(const hu_block *b, char *text, size_t room)
{
	if (b->element != HU_NO_FORMAT)
		snprintf(text, room, "%s", hu_format_name(b->element));
	else
		snprintf(text, room, "%sint%d", b->kind == HU_BLOCK_ZERO_POINT ? "u" : "", b->bits);
	return text;
}

static const char *
scale_name(const hu_block *b, char *text, size_t room)
{
	if (b->scale != HU_NO_FORMAT)
		snprintf(text, room, "%s", hu_format_name(b->scale));
	else
		snprintf(text, room, "a power of two in %d bits", b->scale_bits);
	return text;
}

/* Finds an element's largest and smallest positive value under the scale 1, as the block's decoder gives them. */
static void
extremes(const hu_block *b, double *largest, double *smallest)
{
	hu_block_scale one = { .scale = 1 };

	*largest = 0;
	*smallest = INFINITY;
	for (unsigned c = 0; c < 1u << b->bits; c++) {
		uint8_t code = (uint8_t)c;
		float x;
		hu_block_decode(b, one, &x, &code, 1);
		if (!isfinite(x))
			continue;
		*largest = x > *largest ? x : *largest;
		*smallest = x > 0 && x < *smallest ? x : *smallest;
	}
}

static int
scale_bits(const hu_block *b)
{
	return b->scale == HU_NO_FORMAT ? b->scale_bits : hu_format_of(b->scale).bits;
}

/* Says the rule by which b's scales are found. */
static const char *
rule(const hu_block *b)
{
	const char *summary;
	hu_block_kind kind;

	if (b->kind == HU_BLOCK_AFFINE)
		return "largest magnitude / largest integer";
	if (b->kind == HU_BLOCK_ZERO_POINT)
		return "(largest - smallest) / number of steps, with an integer zero";
	hu_block_rule_row((int)b->rule - 1, &kind, &summary);
	return summary;
}

/* Lists the words that may follow the name. */
static void
say_words(const hu_block *b)
{
	const char *name, *summary;
	hu_block_kind kind;

	if (b->kind == HU_BLOCK_AFFINE || b->kind == HU_BLOCK_ZERO_POINT)
		return;
	printf("\nWords may follow after a colon, as in %s:%s. These find a block's scale, where amax is the block's\n"
	       "largest magnitude, max the largest element, and 2^emax its binade:\n",
		b->name, b->kind == HU_BLOCK_POWER2 ? "rceil" : "te");
	for (int i = 0; (name = hu_block_rule_row(i, &kind, &summary)) != NULL; i++)
		if (kind == b->kind)
			printf("  %-13s %s\n", name, summary);
	printf("These are named after who computes so:\n");
	for (int i = 0; (name = hu_block_maker_row(i, &kind, &summary)) != NULL; i++)
		if (kind == b->kind)
			printf("  %-13s %s\n", name, summary);
	if (b->element != HU_NO_FORMAT)
		printf("A rounding mode (RNE, RNA, RNZ, SR ...) says how elements are rounded.\n");
	if (b->kind == HU_BLOCK_TWO_LEVEL)
		printf("46=mse|mae|max also tries the scale that maps amax to 4, and keeps the one of less error; a\n"
		       "tie is 6's.\n");
	printf("headroom=X takes the scale of amax times X; times=X quantises X times the values and divides by X\n"
	       "again.\n");
}

void
hu_block_page(const hu_block *b)
{
	char element[32], scale[48], cells[128], size[32] = "all";
	double largest, smallest;
	hu_str top, bottom;

	extremes(b, &largest, &smallest);
	hu_block_element(b, element, sizeof element);
	scale_name(b, scale, sizeof scale);
	if (b->size)
		snprintf(size, sizeof size, "%zu", b->size);
	snprintf(
		cells, sizeof cells, " scale: %d bits │ %s × %s: %d bits each ", scale_bits(b), size, element, b->bits);
	hu_str_init(&top);
	hu_str_init(&bottom);
	for (const char *c = cells; *c; c++) {
		int bar = (unsigned char)*c == 0xe2;
		if (((unsigned char)*c & 0xc0) == 0x80)
			continue;
		hu_str_add(&top, bar ? "┬" : "─");
		hu_str_add(&bottom, bar ? "┴" : "─");
	}
	if (b->size)
		printf("%s: blocks of %s %s element%s that share a scale\n\n", b->name, size, element,
			b->size == 1 ? "" : "s");
	else
		printf("%s: %s elements, all of an array under one scale\n\n", b->name, element);
	printf("  ┌%s┐\n  │%s│\n  └%s┘\n\n", top.s, cells, bottom.s);
	hu_str_release(&top);
	hu_str_release(&bottom);
	printf("  value = scale * %s\n", b->kind == HU_BLOCK_ZERO_POINT ? "(element - zero)" : "element");
	printf("  scale              %s: %s\n", scale, rule(b));
	printf("  largest element    %.17g\n  smallest element   %.17g\n", largest, smallest);
	if (b->size)
		printf("  bits an element    %.6g with its share of the scale\n",
			hu_block_bits(b, b->size * 1024) / ((double)b->size * 1024));
	printf("  rounding           %s, saturating; %s\n", hu_mode_summary(b->mode),
		b->inf == HU_BLOCK_INF_NAN ? "a NaN or an infinity makes the whole block NaN"
		: b->inf == HU_BLOCK_INF_LARGEST
			? "a NaN makes the whole block NaN, an infinity gives it the largest scale"
		: b->inf == HU_BLOCK_INF_ONE ? "a NaN or an infinity gives its block the scale 1"
					     : "an infinity gives its block the largest scale");
	say_words(b);
	if (b->element != HU_NO_FORMAT)
		printf("\nThe element's own page: halfulp formats %s\n", element);
}

json_t *
hu_block_json(const hu_block *b)
{
	char element[32], scale[48];
	double largest, smallest;
	json_t *o = json_object();

	extremes(b, &largest, &smallest);
	json_object_set_new(o, "name", json_string(b->name));
	json_object_set_new(o, "element", json_string(hu_block_element(b, element, sizeof element)));
	json_object_set_new(o, "element_bits", json_integer(b->bits));
	json_object_set_new(o, "block", b->size ? json_integer((json_int_t)b->size) : json_null());
	json_object_set_new(o, "scale", json_string(scale_name(b, scale, sizeof scale)));
	json_object_set_new(o, "scale_bits", json_integer(scale_bits(b)));
	json_object_set_new(o, "max_element", json_real(largest));
	json_object_set_new(o, "min_positive_element", json_real(smallest));
	if (b->size)
		json_object_set_new(
			o, "bits_per_element", json_real(hu_block_bits(b, b->size * 1024) / ((double)b->size * 1024)));
	return o;
}
