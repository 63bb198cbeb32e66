/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/formats/round_blocks.h"

#include "analyzers/formats/format_page.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One block: n elements from index from on. own is its scale without the tensor's. */
typedef struct part {
	const hu_round_blocks *v;
	const hu_block *b;
	size_t number, from, n;
	hu_block_scale s;
	double own;
} part;

hu_status
hu_round_blocks_add(hu_round_blocks *v, const char *text, const hu_expr *e)
{
	hu_arithmetic fp32 = { .f = hu_format_of(HU_FP32), .mode = HU_RNE };
	mpfr_t exact;

	HU_TRY(hu_row_exact(e, fp32.f, exact));
	if (v->n == v->cap) {
		v->cap = v->cap ? 2 * v->cap : 32;
		v->value = hu_xrealloc(v->value, v->cap * sizeof *v->value);
		v->x = hu_xrealloc(v->x, v->cap * sizeof *v->x);
	}
	v->x[v->n] = (float)hu_arithmetic_round(&fp32, exact);
	v->value[v->n].text = hu_xstrdup(text);
	v->value[v->n].notes = fp32.notes & HU_NOTE_INEXACT ? HU_NOTE_ENTRY : 0;
	*v->value[v->n++].exact = *exact; /* moved, not copied */
	return HU_OK;
}

void
hu_round_blocks_release(hu_round_blocks *v)
{
	for (size_t i = 0; i < v->n; i++) {
		mpfr_clear(v->value[i].exact);
		free(v->value[i].text);
	}
	free(v->value);
	free(v->x);
	memset(v, 0, sizeof *v);
}

/* rounded toward zero, the quotient stays in the binade of the exact one */
static double
ulps(const hu_block *b, double scale, double got, mpfr_srcptr exact)
{
	hu_format f = hu_format_of(b->element);
	mpfr_t d;
	long unit, e;
	double r;

	if (isnan(got) || mpfr_nan_p(exact))
		return isnan(got) && mpfr_nan_p(exact) ? 0 : INFINITY;
	if (!isfinite(got) || !mpfr_number_p(exact))
		return mpfr_cmp_d(exact, got) == 0 ? 0 : INFINITY;
	if (mpfr_cmp_d(exact, got) == 0)
		return 0;
	if (scale == 0)
		return INFINITY;
	mpfr_init2(d, mpfr_get_prec(exact));
	mpfr_div_d(d, exact, scale, MPFR_RNDZ);
	e = mpfr_regular_p(d) ? (long)mpfr_get_exp(d) - 1 : f.emin;
	unit = b->element == HU_NO_FORMAT ? -hu_exponent(hu_block_steps(b)) : (e < f.emin ? f.emin : e) - f.p + 1;
	mpfr_sub_d(d, exact, got, MPFR_RNDN);
	mpfr_div_d(d, d, scale, MPFR_RNDN);
	mpfr_mul_2si(d, d, -unit, MPFR_RNDN);
	r = fabs(mpfr_get_d(d, MPFR_RNDN));
	mpfr_clear(d);
	return r;
}

static int
notes(const part *p, size_t i, double got)
{
	mpfr_srcptr exact = p->v->value[i].exact;
	int to = p->v->value[i].notes;

	if (isnan(got))
		return to | (mpfr_nan_p(exact) ? 0 : HU_NOTE_INVALID);
	to |= mpfr_cmp_d(exact, got) ? HU_NOTE_INEXACT : 0;
	to |= got == 0 && !mpfr_zero_p(exact) ? HU_NOTE_UNDERFLOW : 0;
	int beyond = !isfinite(got) && mpfr_number_p(exact);
	return to | (beyond || hu_block_saturates(p->b, p->s, p->v->x[i]) ? HU_NOTE_OVERFLOW : 0);
}

/* Makes the row of element i of the array. */
static hu_row
row(const part *p, size_t i)
{
	hu_row r = {
		.input = p->v->value[i].text, .name = p->b->name, .f = hu_format_of(HU_FP32), .code_bits = p->b->bits
	};
	uint8_t code;
	float got;

	hu_block_encode(p->b, p->s, &code, p->v->x + i, 1, i);
	hu_block_decode(p->b, p->s, &got, &code, 1);
	r.code = code;
	r.value = (double)got;
	r.notes = notes(p, i, r.value);
	hu_row_errors(&r, p->v->value[i].exact, ulps(p->b, p->s.scale, r.value, p->v->value[i].exact));
	return r;
}

static size_t
blocks(const hu_round_blocks *v, const hu_block *b)
{
	return b->size ? (v->n + b->size - 1) / b->size : 1;
}

static part
part_of(const hu_round_blocks *v, const hu_block *b, size_t k, double whole)
{
	size_t from = k * b->size, left = v->n - from;
	part p = { v, b, k + 1, from, b->size && b->size < left ? b->size : left, { .scale = 0 }, 0 };

	p.s = hu_block_scale_of(b, v->x + from, p.n, whole);
	p.own = b->kind == HU_BLOCK_TWO_LEVEL ? hu_decode(p.s.code, hu_format_of(b->scale)) : p.s.scale;
	return p;
}

/* Prints a scale: "0.25 = 2^-2 (0x7d)". */
static void
say_scale(double x, uint32_t code, int bits)
{
	char decimal[40], hex[24];
	int e;

	hu_row_shortest(x, hu_format_of(HU_FP32), decimal);
	hu_row_code_of(code, bits, hex);
	printf("%s", decimal);
	if (isfinite(x) && frexp(x, &e) == 0.5)
		printf(" = 2^%d", e - 1);
	printf(" (%s)", hex);
}

static int is_not_finite(float x) { return !isfinite(x); }
static int is_not_zero(float x) { return x != 0; }

/* Returns the index of the first element for which `is` holds; after the last where there is none. */
static size_t
first_of(const part *p, int (*is)(float))
{
	size_t i = p->from;

	while (i < p->from + p->n && !is(p->v->x[i]))
		i++;
	return i;
}

static void
say_block(const part *p)
{
	if (p->n > 1)
		printf("block %zu, values %zu to %zu: scale ", p->number, p->from + 1, p->from + p->n);
	else
		printf("block %zu, value %zu: scale ", p->number, p->from + 1);
	say_scale(p->own, p->s.code, p->b->scale_bits);
	if (p->b->kind == HU_BLOCK_ZERO_POINT)
		printf(", zero %d", p->s.zero);
	if (isnan(p->own)) {
		size_t i = first_of(p, is_not_finite);
		printf("; value %zu is %s%s, which makes the block NaN", i + 1, isnan(p->v->x[i]) ? "NaN" : "infinite",
			p->v->value[i].notes ? " in fp32" : "");
	}
	if (p->own == 0 && first_of(p, is_not_zero) < p->from + p->n)
		printf("; too small for it, the block is 0");
	putchar('\n');
}

void
hu_round_blocks_print(const hu_round_blocks *v, const hu_block *b, int first)
{
	double whole = hu_block_whole(b, v->x, v->n), tensor = hu_block_tensor_scale(b, whole);
	size_t n = blocks(v, b), bad;
	char element[32];

	if (!v->n)
		return;
	printf("%s%s: %zu value%s in %zu block%s of ", first ? "" : "\n", b->name, v->n, v->n == 1 ? "" : "s", n,
		n == 1 ? "" : "s");
	if (b->size)
		printf("%zu ", b->size);
	printf("%s", hu_block_element(b, element, sizeof element));
	if (hu_block_steps(b) > 1)
		printf(" over %g", hu_block_steps(b));
	if (b->kind == HU_BLOCK_TWO_LEVEL) {
		part all = { .v = v, .n = v->n };
		printf(", tensor scale ");
		say_scale(tensor, hu_bits32((float)tensor), 32);
		bad = first_of(&all, is_not_finite);
		if (bad < v->n)
			printf(", as value %zu is not finite", bad + 1);
	}
	putchar('\n');
	hu_row_heading(b->name);
	for (size_t k = 0; k < n; k++) {
		part p = part_of(v, b, k, whole);
		say_block(&p);
		for (size_t i = p.from; i < p.from + p.n; i++) {
			hu_row r = row(&p, i);
			hu_row_print(&r);
			hu_row_release(&r);
		}
	}
}

void
hu_round_blocks_json(const hu_round_blocks *v, const hu_block *b, json_t *rows)
{
	double whole = hu_block_whole(b, v->x, v->n), tensor = hu_block_tensor_scale(b, whole);

	for (size_t k = 0; v->n && k < blocks(v, b); k++) {
		part p = part_of(v, b, k, whole);
		char code[24];
		hu_row_code_of(p.s.code, b->scale_bits, code);
		for (size_t i = p.from; i < p.from + p.n; i++) {
			hu_row r = row(&p, i);
			json_t *o = hu_row_json(&r);
			json_object_set_new(o, "block", json_integer((json_int_t)p.number));
			json_object_set_new(o, "scale", hu_fields_number(p.own));
			json_object_set_new(o, "scale_bits", json_string(code));
			if (b->kind == HU_BLOCK_TWO_LEVEL)
				json_object_set_new(o, "tensor_scale", hu_fields_number(tensor));
			if (b->kind == HU_BLOCK_ZERO_POINT)
				json_object_set_new(o, "zero", json_integer(p.s.zero));
			json_array_append_new(rows, o);
			hu_row_release(&r);
		}
	}
}
