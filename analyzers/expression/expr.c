/* SPDX-License-Identifier: Apache-2.0
   The parser of expressions: recursive descent, with a function for each level of precedence. */
#include "analyzers/expression/expr.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 200, LONGEST = 20000 }; /* most nested brackets and most bytes; both keep the recursion's stack
					    small */

typedef struct parser {
	const char *text, *at;
	int flags, depth;
	hu_status st;
} parser;

static const struct { const char *name; int least, most; } functions[] = {
#define FUNCTION(id, name, least, most, summary) { name, least, most },
#include "analyzers/expression/functions.def"
#undef FUNCTION
};

static hu_expr *expression(parser *p);

/* Signs that are not ASCII, as their bytes in UTF-8. */
static const struct {
	const char *bytes;
	char sign;
} signs[] = { { "\xe2\x88\x92", '-' }, { "\xc3\x97", '*' }, { "\xc2\xb7", '*' }, { "\xc3\xb7", '/' } };

static void
blanks(parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* Returns the next sign, 0 at the end; *len is its length in bytes. */
static char
peek(parser *p, size_t *len)
{
	blanks(p);
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (!strncmp(p->at, signs[i].bytes, strlen(signs[i].bytes))) {
			*len = strlen(signs[i].bytes);
			return signs[i].sign;
		}
	*len = 1;
	return *p->at;
}

static int
take(parser *p, char sign)
{
	size_t n;

	if (p->st != HU_OK || peek(p, &n) != sign)
		return 0;
	p->at += n;
	return 1;
}

static int
column(const parser *p)
{
	return (int)(p->at - p->text) + 1;
}

enum { SHOWN = 60 };

/* Returns the expression for a message: all of it, or the part around column `at`, between dots. */
static const char *
shown(const parser *p, int at, char *text)
{
	size_t n = strlen(p->text), from = at > SHOWN / 2 ? (size_t)at - SHOWN / 2 : 0, to;

	if (n <= SHOWN)
		return p->text;
	from = from > n - SHOWN ? n - SHOWN : from;
	to = from + SHOWN;
	while (from < to && (p->text[from] & 0xc0) == 0x80) /* do not cut a UTF-8 character in two */
		from++;
	while (to > from && (p->text[to] & 0xc0) == 0x80)
		to--;
	snprintf(text, SHOWN + 7, "%s%.*s%s", from ? "..." : "", (int)(to - from), p->text + from,
		p->text[to] ? "..." : "");
	return text;
}

static hu_expr *
fresh(parser *p, hu_expr_kind kind)
{
	hu_expr *e = hu_xcalloc(1, sizeof *e);

	e->kind = kind;
	e->column = column(p);
	return e;
}

static void
add_arg(hu_expr *e, hu_expr *a)
{
	HU_GROW(e->arg, e->nargs, e->cap);
	e->arg[e->nargs++] = a;
}

static hu_expr *
call(parser *p, hu_function f, hu_expr *a, hu_expr *b)
{
	hu_expr *e = fresh(p, HU_EXPR_CALL);

	e->function = f;
	add_arg(e, a);
	if (b)
		add_arg(e, b);
	return e;
}

static hu_expr *
wrong(parser *p, const char *what)
{
	char text[SHOWN + 7];

	if (p->st == HU_OK) {
		size_t n = strcspn(p->at, " \t\n"), m = n > 20 ? 20 : n;
		while (m && (p->at[m] & 0xc0) == 0x80)
			m--;
		if (*p->at)
			p->st = hu_fail(HU_EINVAL, "column %d of '%s': %s, not '%.*s%s'", column(p),
				shown(p, column(p), text), what, (int)m, p->at, n > m ? "..." : "");
		else
			p->st = hu_fail(HU_EINVAL, "column %d of '%s': %s, but it ends there", column(p),
				shown(p, column(p), text), what);
	}
	return fresh(p, HU_EXPR_NAN);
}

/* Returns the length of the number at s: digits with a point and an exponent, or the same in hex. */
static size_t
number_length(const char *s, int *hex, int *integer)
{
	size_t n = 0, digits = 0;

	*hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	*integer = 1;
	n = *hex ? 2 : 0;
	for (; s[n] == '.' || (*hex ? isxdigit((unsigned char)s[n]) : isdigit((unsigned char)s[n])); n++) {
		if (s[n] == '.' && !*integer)
			break;
		if (s[n] == '.')
			*integer = 0;
		else
			digits++;
	}
	if (!digits)
		return 0;
	if (*hex ? s[n] == 'p' || s[n] == 'P' : s[n] == 'e' || s[n] == 'E') {
		size_t m = n + 1 + (s[n + 1] == '+' || s[n + 1] == '-');
		if (isdigit((unsigned char)s[m])) {
			*integer = 0;
			for (n = m; isdigit((unsigned char)s[n]); n++)
				;
		}
	}
	return n;
}

static hu_expr *
number(parser *p)
{
	int hex, integer;
	size_t n = number_length(p->at, &hex, &integer);

	if (!n || isalnum((unsigned char)p->at[n]) || p->at[n] == '.' || p->at[n] == '_')
		return wrong(p, "a number is needed");
	hu_expr *e = fresh(p, hex && integer && (p->flags & HU_EXPR_CODES) ? HU_EXPR_CODE : HU_EXPR_NUMBER);
	e->text = hu_xmalloc(n + 1);
	memcpy(e->text, p->at, n);
	e->text[n] = 0;
	p->at += n;
	return e;
}

static hu_expr *
unknown(parser *p, const char *word, size_t n)
{
	const char *names[HU_FUNCTIONS + 4] = { "pi", "e", "inf", "nan" };
	int count = 4;
	char *bare = hu_xmalloc(n + 1), text[SHOWN + 7];

	memcpy(bare, word, n);
	bare[n] = 0;
	for (int i = 0; i < HU_FUNCTIONS; i++)
		if (isalpha((unsigned char)functions[i].name[0]))
			names[count++] = functions[i].name;
	const char *near = hu_nearest(bare, names, (size_t)count);
	if (p->st == HU_OK)
		p->st = hu_fail(HU_EINVAL, "column %d of '%s': unknown name '%.20s%s'%s%s%s", column(p),
			shown(p, column(p), text), bare, n > 20 ? "..." : "", near ? "; did you mean " : "",
			near ? near : "", near ? "?" : "");
	free(bare);
	return fresh(p, HU_EXPR_NAN);
}

static hu_expr *
arguments(parser *p, hu_function f)
{
	hu_expr *e = fresh(p, HU_EXPR_CALL);
	int at = e->column;
	char text[SHOWN + 7];

	e->function = f;
	p->at += strlen(functions[f].name);
	if (!take(p, '(')) {
		add_arg(e, wrong(p, "( is needed"));
		return e;
	}
	do
		add_arg(e, expression(p));
	while (take(p, ','));
	if (p->st == HU_OK && !take(p, ')'))
		add_arg(e, wrong(p, "an operator, a comma or ) is needed"));
	if (p->st == HU_OK && (e->nargs < functions[f].least || e->nargs > functions[f].most))
		p->st = hu_fail(HU_EINVAL, "column %d of '%s': %s takes %d argument%s, not %d", at, shown(p, at, text),
			functions[f].name, functions[f].least, functions[f].least > 1 ? "s" : "", e->nargs);
	return e;
}

/* Parses fp16(x) where the n characters at p->at name a format, else returns NULL. */
static hu_expr *
cast(parser *p, size_t n)
{
	char text[32];
	hu_format_id id;

	snprintf(text, sizeof text, "%.*s", (int)n, p->at);
	if (n >= sizeof text || p->at[n] != '(' || hu_format_find(text, &id) != HU_OK)
		return NULL;
	hu_expr *e = fresh(p, HU_EXPR_CAST);
	e->format = id;
	p->at += n + 1;
	add_arg(e, expression(p));
	if (p->st == HU_OK && !take(p, ')'))
		add_arg(e, wrong(p, "an operator or ) is needed"));
	return e;
}

static hu_expr *
name(parser *p)
{
	static const struct { const char *name; hu_expr_kind kind; } constants[] = {
		{ "pi", HU_EXPR_PI }, { "e", HU_EXPR_E }, { "inf", HU_EXPR_INF }, { "nan", HU_EXPR_NAN },
	};
	size_t n = 0;

	while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
		n++;
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (strlen(constants[i].name) == n && !strncmp(p->at, constants[i].name, n)) {
			hu_expr *e = fresh(p, constants[i].kind);
			p->at += n;
			return e;
		}
	for (int i = 0; i < HU_FUNCTIONS; i++)
		if (strlen(functions[i].name) == n && !strncmp(p->at, functions[i].name, n))
			return arguments(p, (hu_function)i);
	hu_expr *e = cast(p, n);
	return e ? e : unknown(p, p->at, n);
}

static hu_expr *
primary(parser *p)
{
	hu_expr *e;

	blanks(p);
	if (take(p, '(')) {
		e = expression(p);
		if (p->st == HU_OK && !take(p, ')')) {
			hu_expr_free(e);
			e = wrong(p, "an operator or ) is needed");
		}
		return e;
	}
	if (isdigit((unsigned char)*p->at) || *p->at == '.')
		return number(p);
	if (isalpha((unsigned char)*p->at))
		return name(p);
	return wrong(p, "a number is needed");
}

/* Returns -e. A number's sign belongs to it: modes such as RU do not round -0.1 to the negative of 0.1 rounded. */
static hu_expr *
negative(parser *p, hu_expr *e)
{
	if (e->kind != HU_EXPR_NUMBER || *e->text == '-')
		return call(p, HU_F_NEG, e, NULL);
	char *text = hu_xmalloc(strlen(e->text) + 2);
	sprintf(text, "-%s", e->text);
	free(e->text);
	e->text = text;
	return e;
}

/* Signs bind less tightly than powers: -2^2 is -4; the exponent of a power may have a sign, as in 2^-24. */
static hu_expr *
unary(parser *p)
{
	hu_expr *e;
	char text[SHOWN + 7];

	if (p->st == HU_OK && ++p->depth > DEEPEST)
		p->st = hu_fail(HU_EINVAL, "column %d of '%s': nested more than %d deep", column(p),
			shown(p, column(p), text), DEEPEST);
	if (p->st != HU_OK)
		return fresh(p, HU_EXPR_NAN);
	if (take(p, '-')) {
		e = negative(p, unary(p));
	} else if (take(p, '+')) {
		e = unary(p);
	} else {
		e = primary(p);
		if (take(p, '^'))
			e = call(p, HU_F_POW, e, unary(p));
	}
	p->depth--;
	return e;
}

static hu_expr *
product(parser *p)
{
	hu_expr *e = unary(p);

	for (;;) {
		if (take(p, '*'))
			e = call(p, HU_F_MUL, e, unary(p));
		else if (take(p, '/'))
			e = call(p, HU_F_DIV, e, unary(p));
		else
			return e;
	}
}

static hu_expr *
expression(parser *p)
{
	hu_expr *e = product(p);

	for (;;) {
		if (take(p, '+'))
			e = call(p, HU_F_ADD, e, product(p));
		else if (take(p, '-'))
			e = call(p, HU_F_SUB, e, product(p));
		else
			return e;
	}
}

hu_status
hu_expr_parse(const char *text, int flags, hu_expr **out)
{
	parser p = { text, text, flags, 0, HU_OK };

	*out = NULL;
	if (strlen(text) > LONGEST)
		return hu_fail(
			HU_EINVAL, "column %d: the expression is longer than %d characters", LONGEST + 1, LONGEST);
	*out = expression(&p);
	blanks(&p);
	if (p.st == HU_OK && *p.at)
		hu_expr_free(wrong(&p, "an operator is needed"));
	if (p.st != HU_OK) {
		hu_expr_free(*out);
		*out = NULL;
	}
	return p.st;
}

void
hu_expr_free(hu_expr *e)
{
	if (!e)
		return;
	for (int i = 0; i < e->nargs; i++)
		hu_expr_free(e->arg[i]);
	free(e->arg);
	free(e->text);
	free(e);
}
