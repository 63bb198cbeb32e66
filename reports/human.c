/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/human.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NARROW_SPACE "\u202f"
#define MINUS "\u2212"

/* Writes a mantissa and a power of ten where %g would write an e. */
static char *
real(double x, int digits)
{
	char b[40];

	snprintf(b, sizeof b, "%.*g", digits, x);
	const char *sign = b[0] == '-' ? MINUS : "";
	char *p = b + (b[0] == '-'), *e = strchr(p, 'e');
	if (!e)
		return hu_xprintf("%s%s", sign, p);
	*e = 0;
	int power = atoi(e + 1);
	return hu_xprintf("%s%s" NARROW_SPACE "×" NARROW_SPACE "10^%s%d", sign, p, power < 0 ? MINUS : "", abs(power));
}

static char *
count(double x)
{
	char digits[40];
	hu_str b;

	snprintf(digits, sizeof digits, "%.0f", fabs(x));
	hu_str_init(&b);
	hu_str_add(&b, x < 0 ? MINUS : "");
	size_t n = strlen(digits);
	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			hu_str_add(&b, NARROW_SPACE);
		hu_str_addn(&b, digits + i, 1);
	}
	return b.s;
}

static char *
share(double x)
{
	double percent = 100 * x;
	char *number = percent == 0             ? hu_xstrdup("0")
		       : fabs(percent) >= 9.995 ? hu_xprintf("%s%.1f", x < 0 ? MINUS : "", fabs(percent))
						: real(percent, 3);
	char *s = hu_xprintf("%s" NARROW_SPACE "%%", number);

	free(number);
	return s;
}

static char *
cosine(double x)
{
	if (!(fabs(1 - x) < 1e-4) || x == 1)
		return hu_xprintf("%s%.6g", x < 0 ? MINUS : "", fabs(x));
	char *rest = real(fabs(1 - x), 2),
	     *s = hu_xprintf("1" NARROW_SPACE "%s" NARROW_SPACE "%s", x > 1 ? "+" : MINUS, rest);
	free(rest);
	return s;
}

static char *
bytes(double x)
{
	const char *unit[] = { "B", "kB", "MB", "GB", "TB" }, *sign = x < 0 ? MINUS : "";
	int k = 0;

	for (; fabs(x) >= 999.5 && k < 4; k++)
		x /= 1000;
	return hu_xprintf(k ? "%s%.3g" NARROW_SPACE "%s" : "%s%.0f" NARROW_SPACE "%s", sign, fabs(x), unit[k]);
}

char *
hu_human(double x, hu_quantity unit)
{
	int e;

	if (isnan(x))
		return hu_xstrdup("–");
	if (isinf(x))
		return hu_xstrdup(x < 0 ? MINUS "∞" : "∞");
	switch (unit) {
	case HU_UNIT_SHARE: return share(x);
	case HU_UNIT_COUNT: return x == floor(x) && fabs(x) < 1e15 ? count(x) : real(x, 5);
	case HU_UNIT_COSINE: return cosine(x);
	case HU_UNIT_BYTES: return bytes(x);
	case HU_UNIT_POWER:
		if (x > 0 && frexp(x, &e) == 0.5)
			return e < 1 ? hu_xprintf("2^" MINUS "%d", 1 - e) : hu_xprintf("2^%d", e - 1);
		return real(x, 4);
	case HU_UNIT_ULP: return x > 0x1p24 ? hu_xstrdup(">" NARROW_SPACE "2^24") : real(x, 4);
	case HU_UNIT_REAL: break;
	}
	return real(x, 4);
}

char *
hu_human_json(const json_t *v, hu_quantity unit)
{
	const char *text = json_string_value(v);

	if (text && (!strcmp(text, "inf") || !strcmp(text, "-inf"))) /* how JSON has what is not finite */
		return hu_human(*text == '-' ? -INFINITY : INFINITY, unit);
	if (text)
		return hu_xstrdup(strcmp(text, "-") ? text : "–");
	return hu_human(json_is_number(v) ? json_number_value(v) : NAN, unit);
}

void
hu_html_text(hu_str *b, const char *raw)
{
	for (const char *text = hu_shown(raw); *text; text++)
		switch (*text) {
		case '&': hu_str_add(b, "&amp;"); break;
		case '<': hu_str_add(b, "&lt;"); break;
		case '>': hu_str_add(b, "&gt;"); break;
		case '"': hu_str_add(b, "&quot;"); break;
		case '\'': hu_str_add(b, "&#39;"); break;
		default: hu_str_addn(b, text, 1);
		}
}

void
hu_add_raised(hu_str *b, const char *s)
{
	static const char *const digit[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
	const char *minus = MINUS;
	int raised = 0;

	for (; *s; s++) {
		size_t sign = s[0] != '^'                             ? 0
			      : s[1] == '-'                           ? 1
			      : !strncmp(s + 1, minus, strlen(minus)) ? strlen(minus)
								      : 0;
		if (*s == '^' && s[1 + sign] >= '0' && s[1 + sign] <= '9')
			raised = 1;
		else if (raised && *s == '-')
			hu_str_add(b, "⁻");
		else if (raised && !strncmp(s, minus, strlen(minus))) {
			hu_str_add(b, "⁻");
			s += strlen(minus) - 1;
		} else if (raised && *s >= '0' && *s <= '9')
			hu_str_add(b, digit[*s - '0']);
		else {
			raised = 0;
			hu_str_addn(b, s, 1);
		}
	}
}

/* Appends the sign that text begins with as a minus sign, and an infinity behind it as ∞, where it begins with a
   number. Returns how many of its bytes these were. */
static size_t
add_sign(hu_str *b, const char *text)
{
	size_t sign = *text == '-';
	int infinite = !strncmp(text + sign, "inf", 3) && !isalnum((unsigned char)text[sign + 3]);

	if (!infinite && !isdigit((unsigned char)text[sign]))
		return 0;
	hu_str_addf(b, "%s%s", sign ? MINUS : "", infinite ? "∞" : "");
	return sign + (infinite ? 3 : 0);
}

/* Returns text with a number such as 1.5e-07 as 1.5·10⁻⁷, and as add_sign has its first. The caller frees it. */
static char *
with_powers(const char *text)
{
	hu_str b;

	hu_str_init(&b);
	text += add_sign(&b, text);
	for (const char *p = text; *p;) {
		size_t n = strspn(p, "0123456789."), sign = n && p[n] == 'e' && (p[n + 1] == '-' || p[n + 1] == '+'),
		       digits = sign ? strspn(p + n + 2, "0123456789") : 0;
		int alone = p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
		hu_str_addn(&b, p, n ? n : 1);
		if (digits && alone) {
			char *power = hu_xprintf("·10^%d", atoi(p + n + 1));
			hu_add_raised(&b, power);
			free(power);
			n += 2 + digits;
		}
		p += n ? n : 1;
	}
	return b.s;
}

void
hu_html_number(hu_str *b, const char *plain)
{
	char *whole = with_powers(plain), *text = whole;

	for (char *up; (up = strchr(text, '^'));) {
		size_t minus = up[1] == '-' || up[1] == '+'            ? 1
			       : strncmp(up + 1, MINUS, strlen(MINUS)) ? 0
								       : strlen(MINUS),
		       digits = strspn(up + 1 + minus, "0123456789");
		/* without digits behind it a ^ is a character like any other */
		size_t sign = digits ? minus : 0, shown = digits ? 0 : 1;
		char *before = hu_xprintf("%.*s", (int)(up - text) + (int)shown, text);
		hu_html_text(b, before);
		if (digits)
			hu_str_addf(b, "<sup>%s%.*s</sup>", up[1] == '-' ? MINUS : "",
				(int)(up[1] == '-' ? digits : sign + digits), up + 1 + (up[1] == '-'));
		text = up + 1 + sign + digits;
		free(before);
	}
	hu_html_text(b, text);
	free(whole);
}

static size_t
characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

char *
hu_abbreviate(const char *name, size_t limit)
{
	char *s = hu_xstrdup(name);

	for (char *p = s; characters(s) > limit;) {
		size_t n = strcspn(p, "./"), first = 1;
		if (!p[n])
			break;
		while ((p[first] & 0xc0) == 0x80)
			first++;
		if (n > first && strcspn(p, "0123456789") >= n) {
			memmove(p + first, p + n, strlen(p + n) + 1);
			n = first;
		}
		p += n + 1;
	}
	if (characters(s) <= limit)
		return s;
	char *tail = s;
	for (size_t over = characters(s) - limit + 1; over; over--)
		while ((*++tail & 0xc0) == 0x80)
			;
	char *cut = hu_xprintf("…%s", tail);
	free(s);
	return cut;
}
