/* SPDX-License-Identifier: Apache-2.0
   The parser of expressions: recursive descent, with a function for each level of precedence. */
#include "analyzers/expression/array.h"
#include "analyzers/expression/expr.h"
#include "analyzers/expression/expr_text.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEEPEST = 200,
	LONGEST = 20000
}; /* most nested brackets and most bytes; both keep the recursion's stack
      small */

typedef struct parser {
	const char *text, *at;
	int flags, depth;
	hu_status st;
} parser;

static const struct {
	const char *name;
	int least, most;
} functions[] = {
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

static hu_expr *
fresh(parser *p, hu_expr_kind kind)
{
	return hu_expr_new(kind, column(p));
}

static hu_expr *
call(parser *p, hu_function f, hu_expr *a, hu_expr *b)
{
	return hu_expr_call(f, column(p), a, b);
}

static hu_expr *
wrong(parser *p, const char *what)
{
	char text[HU_EXPR_SHOWN];

	if (p->st == HU_OK) {
		size_t n = strcspn(p->at, " \t\n"), m = n > 20 ? 20 : n;
		while (m && (p->at[m] & 0xc0) == 0x80)
			m--;
		if (*p->at)
			p->st = hu_fail(HU_EINVAL, "column %d of '%s': %s, not '%.*s%s'", column(p),
				hu_expr_shown(p->text, column(p), text), what, (int)m, p->at, n > m ? "..." : "");
		else
			p->st = hu_fail(HU_EINVAL, "column %d of '%s': %s, but it ends there", column(p),
				hu_expr_shown(p->text, column(p), text), what);
	}
	return fresh(p, HU_EXPR_NAN);
}

static hu_expr *
number(parser *p)
{
	int hex, integer;
	size_t n = hu_expr_number_length(p->at, &hex, &integer);

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
	const char *names[HU_FUNCTIONS + HU_ARRAY_FUNCTIONS + 4] = { "pi", "e", "inf", "nan" };
	int count = 4;
	char *bare = hu_xmalloc(n + 1), text[HU_EXPR_SHOWN];

	memcpy(bare, word, n);
	bare[n] = 0;
	for (int i = 0; i < HU_FUNCTIONS; i++)
		if (isalpha((unsigned char)functions[i].name[0]))
			names[count++] = functions[i].name;
	for (int i = 0; i < HU_ARRAY_FUNCTIONS; i++)
		names[count++] = hu_array_name(i);
	const char *near = hu_nearest(bare, names, (size_t)count);
	if (p->st == HU_OK)
		p->st = hu_fail(HU_EINVAL, "column %d of '%s': unknown name '%.20s%s'%s%s%s", column(p),
			hu_expr_shown(p->text, column(p), text), bare, n > 20 ? "..." : "",
			near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	free(bare);
	return fresh(p, HU_EXPR_NAN);
}

/* Parses [x, y, ...], @FILE.npy or an expression. */
static hu_expr *
argument(parser *p)
{
	hu_expr *e;

	if (take(p, '[')) {
		e = fresh(p, HU_EXPR_ARRAY);
		do
			hu_expr_add(e, expression(p));
		while (take(p, ','));
		if (p->st == HU_OK && !take(p, ']'))
			hu_expr_add(e, wrong(p, "an operator, a comma or ] is needed"));
		return e;
	}
	if (!take(p, '@'))
		return expression(p);
	size_t n = strcspn(p->at, " \t\n,)]");
	char *path = hu_xmalloc(n + 1);
	memcpy(path, p->at, n);
	path[n] = 0;
	p->st = hu_array_read(path, column(p), &e);
	free(path);
	p->at += n;
	return p->st == HU_OK ? e : fresh(p, HU_EXPR_NAN);
}

/* Parses the arguments of a call, behind its name. */
static hu_expr *
in_brackets(parser *p, size_t name)
{
	hu_expr *e = fresh(p, HU_EXPR_CALL);

	p->at += name;
	if (!take(p, '(')) {
		hu_expr_add(e, wrong(p, "( is needed"));
		return e;
	}
	do
		hu_expr_add(e, argument(p));
	while (take(p, ','));
	if (p->st == HU_OK && !take(p, ')'))
		hu_expr_add(e, wrong(p, "an operator, a comma or ) is needed"));
	return e;
}

static hu_expr *
arguments(parser *p, hu_function f)
{
	hu_expr *e = in_brackets(p, strlen(functions[f].name));
	int at = e->column, arrays = 0;
	char text[HU_EXPR_SHOWN];

	e->function = f;
	for (int i = 0; i < e->nargs; i++)
		arrays += e->arg[i]->kind == HU_EXPR_ARRAY;
	if (f == HU_F_SUM)
		hu_array_spread(e);
	else if (p->st == HU_OK && arrays)
		p->st = hu_fail(HU_EINVAL,
			"column %d of '%s': %s takes numbers; arrays are for sum, dot, mean, norm and softmax", at,
			hu_expr_shown(p->text, at, text), functions[f].name);
	if (p->st == HU_OK && (e->nargs < functions[f].least || e->nargs > functions[f].most))
		p->st = hu_fail(HU_EINVAL, "column %d of '%s': %s takes %d argument%s, not %d", at,
			hu_expr_shown(p->text, at, text), functions[f].name, functions[f].least,
			functions[f].least > 1 ? "s" : "", e->nargs);
	return e;
}

/* Parses a call of a function of arrays. */
static hu_expr *
of_arrays(parser *p, int f)
{
	hu_expr *e = in_brackets(p, strlen(hu_array_name(f))), *out;

	if (p->st != HU_OK)
		return e;
	p->st = hu_array_call(f, e, &out);
	return out ? out : fresh(p, HU_EXPR_NAN);
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
	hu_expr_add(e, expression(p));
	if (p->st == HU_OK && !take(p, ')'))
		hu_expr_add(e, wrong(p, "an operator or ) is needed"));
	return e;
}

static hu_expr *
name(parser *p)
{
	static const struct {
		const char *name;
		hu_expr_kind kind;
	} constants[] = {
		{ "pi", HU_EXPR_PI },
		{ "e", HU_EXPR_E },
		{ "inf", HU_EXPR_INF },
		{ "nan", HU_EXPR_NAN },
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
	if (hu_array_function(p->at, n) >= 0)
		return of_arrays(p, hu_array_function(p->at, n));
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
	if (*p->at == '[' || (*p->at == '@' && p->at[1] > ' '))
		return wrong(p, "a number is needed; an array is an argument of sum, dot, mean, norm or softmax");
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
	char text[HU_EXPR_SHOWN];

	if (p->st == HU_OK && ++p->depth > DEEPEST)
		p->st = hu_fail(HU_EINVAL, "column %d of '%s': nested more than %d deep", column(p),
			hu_expr_shown(p->text, column(p), text), DEEPEST);
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
