/* SPDX-License-Identifier: Apache-2.0
   Drawings read back: the digits of the rows named exact, sum and result are the numbers that the
   operation has, the line stands at the last bit kept, stored rows are codes. */
#include "analyzers/expression/evaluate_sum.h"
#include "analyzers/explain/explain.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The digits left of the line as an integer, and those right of it as a fraction; 0 where columns are left out. */
static int
read_back(const hu_explain_panel *p, const hu_strip *s, double *whole, double *rest)
{
	double unit = 0.5;

	*whole = *rest = 0;
	if (s->line < 0 || s->more)
		return 0;
	for (int i = 0; i < p->columns; i++) {
		int one = s->cell[i].digit == '1';
		if (p->column[i].before == '~')
			return 0;
		if (i < s->line)
			*whole = 2 * *whole + one;
		else
			*rest += one ? unit : 0;
		unit = i < s->line ? unit : unit / 2;
	}
	return 1;
}

static const hu_strip *
strip_named(const hu_drawing *d, const char *label, const hu_explain_panel **panel)
{
	for (int i = d->n - 1; i >= 0; i--)
		for (int k = 0; d->item[i].kind == HU_DRAWN_PANEL && k < d->item[i].panel.strips; k++)
			if (!strcmp(d->item[i].panel.strip[k].label, label)) {
				*panel = &d->item[i].panel;
				return &d->item[i].panel.strip[k];
			}
	return NULL;
}

/* The weight above the last column before the line of panel P. */
static double
unit_of(const hu_explain_panel *p, int line)
{
	return ldexp(1, atoi(p->column[line - 1].head + 2));
}

static double
any(uint32_t stream, uint64_t i, hu_format f)
{
	hu_random r = hu_random_at(77, stream, 0, i);
	double m = 1 + ldexp((double)(r.w[0] & (r.w[2] & 1 ? 0xffffffffu : 0xc0000000u)), -32);

	return hu_round(ldexp(r.w[1] & 1 ? m : -m, (int)(r.w[1] >> 8) % (r.w[2] & 2 ? 5 : f.p + 4)), f, HU_RNE, 0, 0);
}

static void
test_op(hu_function f, hu_format_id id, hu_mode mode, int n)
{
	hu_expr e = { .kind = HU_EXPR_CALL, .function = f };
	hu_expr none = { .kind = HU_EXPR_PI }, *args[3] = { &none, &none, &none };
	int wrong = 0, drawn = 0;
	hu_format to = hu_format_of(id);

	e.arg = args;
	for (int i = 0; i < 400; i++) {
		hu_explain x = { .root = NULL };
		double v[3] = { any(1, (uint64_t)i, to), any(2, (uint64_t)i, to), any(3, (uint64_t)i, to) }, s, whole,
		       rest, exact;
		hu_arithmetic a = { to, mode, 0, 0, 0, 0, NULL, NULL, NULL };
		hu_seen w = { &e, v, NULL, NULL, n, 0, 0 };
		const hu_explain_panel *p;
		const hu_strip *row;
		mpfr_t m[3], r;
		mpfr_ptr q[3] = { m[0], m[1], m[2] };
		int notes = 0;

		mpfr_inits2(53, m[0], m[1], m[2], (mpfr_ptr)0);
		mpfr_init2(r, 200);
		for (int k = 0; k < n; k++)
			mpfr_set_d(m[k], v[k], MPFR_RNDN);
		hu_function_odd(f, r, q);
		w.s = s = hu_correct_round(r, to, mode, 0, 0, &notes);
		exact = fabs(mpfr_get_d(r, MPFR_RNDN)); /* these sums and products have fewer than 53 bits */
		mpfr_clears(m[0], m[1], m[2], r, (mpfr_ptr)0);
		hu_explain_seen(&x, &a, &w);
		row = strip_named(&x.d, "exact", &p);
		if (row && isfinite(s) && read_back(p, row, &whole, &rest)) {
			double unit = unit_of(p, row->line);
			drawn++;
			wrong += (whole + rest) * unit != exact;
			row = strip_named(&x.d, "result", &p);
			if (exact >= 2 * hu_pow2(to.emax)) { /* beyond the format: words instead */
				hu_drawing_release(&x.d);
				continue;
			}
			wrong += !row || !read_back(p, row, &whole, &rest) || whole * unit != fabs(s) || rest != 0;
			p = &x.d.item[1].panel; /* as stored */
			uint64_t code = 0;
			for (int k = 0; k < p->columns; k++)
				code = 2 * code + (p->strip[n].cell[k].digit == '1');
			wrong += p->columns != to.bits || code != hu_encode(s, to);
		}
		hu_drawing_release(&x.d);
	}
	ok(!wrong && drawn > 200, "function %d in %s, %s: %d drawings, %d wrong", f, hu_format_name(id),
		hu_mode_name(mode), drawn, wrong);
}

/* What a block draws as its result is what the model returns, for every unit that is drawn. */
static void
test_block(const char *model)
{
	hu_sum sum;
	hu_expr e = { .kind = HU_EXPR_CALL, .function = HU_F_SUM };
	int wrong = 0, drawn = 0;

	if (hu_expr_sum_model(model, hu_format_of(HU_FP32), HU_RNE, 0, &sum) != HU_OK)
		bail_out("%s", hu_reason());
	for (int i = 0; i < 200; i++) {
		enum { N = 40 };
		hu_format in = hu_expr_factor_format(&sum, hu_format_of(HU_FP32)), out = hu_format_of(sum.out);
		hu_explain x = { .root = NULL };
		double a[N], b[N], whole, rest, unit;
		hu_arithmetic how = { out, HU_RNE, 0, 0, 0, 0, NULL, NULL, &sum };
		hu_seen w = { &e, a, b, NULL, i % N + 1, 0, 0 };
		const hu_explain_panel *p;

		for (int k = 0; k < w.n; k++) {
			a[k] = any(4, (uint64_t)(i * N + k), in);
			b[k] = any(5, (uint64_t)(i * N + k), in) / 16;
			b[k] = hu_round(b[k], in, HU_RNE, 0, 0);
		}
		w.start = i % 3 ? any(6, (uint64_t)i, out) : 0;
		w.s = hu_model_tc(a, b, (size_t)w.n, w.start, sum, NULL);
		hu_explain_seen(&x, &how, &w);
		const hu_strip *row = strip_named(&x.d, "result", &p);

		if (row && isfinite(w.s) && read_back(p, row, &whole, &rest)) {
			drawn++;
			unit = unit_of(p, row->line);
			wrong += whole * unit != fabs(w.s) || rest != 0;
		}
		hu_drawing_release(&x.d);
	}
	ok(!wrong && drawn > 100, "%s: %d drawings, %d wrong", model, drawn, wrong);
}

/* Every opened tag of the SVG is closed and no character of the texts is left unescaped. */
static void
test_svg(void)
{
	hu_drawing d;
	char *svg;
	int open = 0;

	hu_drawing_init(&d);
	hu_drawing_title(&d, "a < b & c: 2^-10");
	hu_drawing_words(&d, "\"quoted\" > 1");
	svg = hu_drawing_svg(&d, "halfulp calc '1 < 2^-3'", &(hu_drawing_look){ 0, 0 });
	for (const char *s = svg; *s; s++)
		open += s[0] == '<' && s[1] == 't' && s[2] == 'e'                  ? 1
			: s[0] == '<' && s[1] == '/' && s[2] == 't' && s[3] == 'e' ? -1
										   : 0;
	ok(open == 0 && strstr(svg, "a &lt; b &amp; c") && strstr(svg, "2⁻¹⁰") &&
			strstr(svg, "&quot;quoted&quot; &gt; 1") && strstr(svg, "1 &lt; 2^-3"),
		"SVG: texts are escaped, powers raised, the command verbatim");
	free(svg);
	hu_drawing_release(&d);
}

static void
test_lines(void)
{
	is_int((long long)hu_text_line("one two three", 8), 7, "lines break at the last blank that fits");
	is_int((long long)hu_text_line("a long-unbreakable-word and more", 6), 1, "before a word that does not fit");
	is_int((long long)hu_text_line("unbreakable-word and more", 6), 16, "after it where it comes first");
	is_int((long long)hu_text_width("2⁻¹⁰ ×"), 6, "characters, not bytes");
}

int
main(void)
{
	static const hu_function two[] = { HU_F_ADD, HU_F_SUB, HU_F_MUL };
	static const hu_format_id ids[] = { HU_FP16, HU_BF16, HU_E4M3, HU_TF32, HU_E5M2FNUZ };

	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 3; k++)
			test_op(two[k], ids[i], i % 2 ? HU_RNE : HU_RU, 2);
		test_op(HU_F_FMA, ids[i], HU_RNE, 3);
	}
	test_block("tc:volta");
	test_block("tc:ampere,in=bf16");
	test_block("tc:hopper");
	test_block("tc:hopper,in=e4m3,path=wgmma");
	test_block("tc:hopper,in=tf32");
	test_svg();
	test_lines();
	mpfr_free_cache();
	return done_testing();
}
