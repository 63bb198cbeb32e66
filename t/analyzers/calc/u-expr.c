/* SPDX-License-Identifier: Apache-2.0
   The expression parser on nonsense: whatever is refused is refused with a column within the text and one
   line; whatever is taken evaluates, and means the same with blanks between its words. */
#include "analyzers/expression/expr.h"
#include "lib/base/str.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = { "1", "2.5", "0x1.8p3", "1e-3", ".5", "0x3c00", "pi", "e", "inf", "nan", "+", "-",
	"*", "/", "^", "(", ")", ",", "sqrt(", "fma(", "sum(", "max(", "exp(", "\xc3\x97", "\xe2\x88\x92", " ", "x",
	"1e", "0x", "..", "1.2.3", "_", "\xff", "\t", "sum", "sqrt", "-0", "1e999999", "0x1p-99999", "(1)",
	"sigmoid(" };
enum { WORDS = sizeof words / sizeof *words, TRIES = 60000 };

/* "column N of …" within the text or one behind it, and no line break. */
static int
well_said(const char *reason, size_t length)
{
	const char *at = strstr(reason, "column ");
	long n = at ? strtol(at + 7, NULL, 10) : 0;

	return n >= 1 && (size_t)n <= length + 1 && !strchr(reason, '\n');
}

static double
value(const hu_expr *e)
{
	hu_arithmetic a = { .f = hu_format_of(HU_FP16), .mode = HU_RNE };

	return hu_expr_value(e, &a);
}

static int
equal(double a, double b)
{
	return (isnan(a) && isnan(b)) || hu_bits64(a) == hu_bits64(b);
}

static void
test_words(void)
{
	int taken = 0, refused = 0, unsaid = 0, differ = 0;

	for (uint64_t i = 0; i < TRIES; i++) {
		hu_str s, spaced;
		hu_expr *e, *again;
		size_t n = hu_random_at(9, 1, 0, i).w[0] % 9 + 1;

		hu_str_init(&s);
		hu_str_init(&spaced);
		for (size_t k = 0; k < n; k++) {
			hu_random r = hu_random_at(9, 2, 0, i * 16 + k);
			const char *w = words[r.w[0] % WORDS];
			if (r.w[1] % 8 == 0 && *w) { /* a broken word */
				hu_str_addn(&s, w, strlen(w) - 1);
				hu_str_addn(&spaced, w, strlen(w) - 1);
			} else {
				hu_str_add(&s, w);
				hu_str_add(&spaced, w);
				hu_str_add(&spaced, " ");
			}
		}
		if (hu_expr_parse(s.s, i % 2 ? HU_EXPR_CODES : 0, &e) == HU_OK) {
			taken++;
			if (hu_expr_codes_fit(e, hu_format_of(HU_FP16)) == HU_OK) {
				double v = value(e);
				if (hu_expr_parse(spaced.s, i % 2 ? HU_EXPR_CODES : 0, &again) == HU_OK) {
					differ += !equal(v, value(again));
					hu_expr_free(again);
				}
			}
			hu_expr_free(e);
		} else {
			refused++;
			if (!well_said(hu_reason(), s.len) && unsaid++ < 3)
				diag("'%s': %s", s.s, hu_reason());
		}
		hu_str_release(&s);
		hu_str_release(&spaced);
	}
	ok(taken > TRIES / 50 && refused > TRIES / 10 && !unsaid,
		"%d expressions taken, %d refused, each with its column", taken, refused);
	is_int(differ, 0, "blanks between words change nothing");
}

/* Bytes of any kind, cut anywhere. */
static void
test_bytes(void)
{
	int unsaid = 0;

	for (uint64_t i = 0; i < TRIES; i++) {
		char text[40];
		hu_random r = hu_random_at(10, 1, 0, i);
		size_t n = r.w[0] % (sizeof text - 1);
		hu_expr *e;

		for (size_t k = 0; k < n; k++) {
			uint32_t x = hu_random_at(10, 2, 0, i * 64 + k).w[0];
			text[k] = x >> 8 & 1 ? "0123456789.+-*/^()e,xp "[x % 23] : (char)(x % 255 + 1);
		}
		text[n] = 0;
		if (hu_expr_parse(text, 0, &e) == HU_OK) {
			value(e);
			hu_expr_free(e);
		} else {
			unsaid += !well_said(hu_reason(), n);
		}
	}
	is_int(unsaid, 0, "%d strings of bytes: refused with a column, or evaluated", TRIES);
}

static void
test_limits(void)
{
	hu_expr *e;
	char *long_one = malloc(30001), *many = malloc(20001);

	memset(long_one, '1', 30000);
	long_one[30000] = 0;
	ok(hu_expr_parse(long_one, 0, &e) == HU_EINVAL && strstr(hu_reason(), "20000"), "too long is said");
	for (int i = 0; i < 10000; i++)
		memcpy(many + 2 * i, i ? "+1" : " 1", 2);
	many[20000] = 0;
	ok(hu_expr_parse(many, 0, &e) == HU_OK && value(e) == 2048, "ten thousand ones in fp16: 2048");
	hu_expr_free(e);
	free(long_one);
	free(many);
}

/* What two expressions are worth, and what one is rounded to in fp16. */
static void
test_exact(void)
{
	static const char *const same[][2] = {
		{ "0.1+0.2-0.3", "0" },
		{ "sum(0.1,0.2,-0.3)", "0" },
		{ "fma(1.1,1.1,-1.21)", "0" },
		{ "0.1*3-0.3", "0" },
		{ "(1e60+0.1)-1e60", "0.1" },
		{ "(1+1e-3000)-1", "1e-3000" },
		{ "1/3*3", "1" },
		{ "2^-3", "0.125" },
		{ "(2/3)^-2", "2.25" },
		{ "0x1.8p3", "12" },
		{ "0x.8p-1", "0.25" },
		{ "1.50e1", "15" },
		{ "max(1/3,0.3)", "1/3" },
		{ "min(1/3,0.3)", "3/10" },
		{ "abs(-1/7)", "1/7" },
		{ "sqrt(2)*sqrt(2)-2", "0" },
		{ "log(exp(1))-1", "0" },
		{ "(exp(-2000)+1)-1", "exp(-2000)" },
		{ "sum(sqrt(3),1e-900,-sqrt(3))", "1e-900" },
		{ "sqrt(9)/7", "3/7" },
	};
	static const struct { const char *text; hu_mode mode; unsigned code;
	} rounded[] = {
		{ "1+2^-11", HU_RNE, 0x3c00 },
		{ "1+2^-11+1e-400", HU_RNE, 0x3c01 },
		{ "1+2^-11+exp(-1000)", HU_RNE, 0x3c01 },
		{ "1+1e-400", HU_RU, 0x3c01 },
		{ "1+1e-90000", HU_RU, 0x3c01 },
		{ "1+1e-400", HU_RO, 0x3c01 },
		{ "1-1e-400", HU_RD, 0x3bff },
		{ "erf(30)", HU_RD, 0x3bff },
		{ "tanh(1e10)", HU_RZ, 0x3bff },
		{ "0.1+0.2-0.3", HU_RU, 0 },
		{ "0.1*3-0.3", HU_RO, 0 },
		{ "0-0", HU_RNE, 0 },
		{ "1e-99999999999999999999", HU_RNE, 0 },
		{ "0x1p-99999999999999999999", HU_RNE, 0 },
		{ "-0", HU_RNE, 0x8000 },
	};
	hu_format f = hu_format_of(HU_FP16);
	mpfr_t x, y;
	hu_expr *a, *b;

	mpfr_inits2(1100, x, y, (mpfr_ptr)0);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		if (hu_expr_parse(same[i][0], 0, &a) != HU_OK || hu_expr_parse(same[i][1], 0, &b) != HU_OK)
			bail_out("%s", hu_reason());
		hu_expr_exact(a, f, x);
		hu_expr_exact(b, f, y);
		mpfr_sub(y, y, x, MPFR_RNDA); /* rounded to odd where it is no fraction: the last place may differ */
		ok(mpfr_zero_p(y) || (mpfr_regular_p(x) && mpfr_get_exp(y) < mpfr_get_exp(x) - 1098), "%s is %s",
			same[i][0], same[i][1]);
		hu_expr_free(a);
		hu_expr_free(b);
	}
	for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
		hu_arithmetic how = { .f = f, .mode = rounded[i].mode };
		if (hu_expr_parse(rounded[i].text, 0, &a) != HU_OK)
			bail_out("%s", hu_reason());
		hu_expr_exact(a, f, x);
		double v = hu_arithmetic_round(&how, x);
		is_int((long)hu_encode(v, f), (long)rounded[i].code, "%s, %s", rounded[i].text,
			hu_mode_name(rounded[i].mode));
		hu_expr_free(a);
	}
	mpfr_clears(x, y, (mpfr_ptr)0);
}

int
main(void)
{
	test_exact();
	test_words();
	test_bytes();
	test_limits();
	mpfr_free_cache();
	return done_testing();
}
