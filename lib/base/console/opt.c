/* SPDX-License-Identifier: Apache-2.0
   Parses command lines by getopt_long, and reads options' values. */
#include "lib/base/console/opt.h"

#include "lib/base/show.h"
#include "lib/base/console/spec.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
count(const hu_opt *opts)
{
	int n = 0;

	while (opts[n].name)
		n++;
	return n;
}

/* The option's row. A name that the table lacks is a bug of the command. */
static int
find(const hu_args *a, const char *name)
{
	for (int i = 0; a->opts[i].name; i++)
		if (!strcmp(a->opts[i].name, name))
			return i;
	hu_bug(__FILE__, __LINE__, "option --%s is not in the table", name);
}

/* getopt takes "-1.5" for options. With its minus replaced by this character it is an ordinary word; the minus is
   put back afterwards. */
enum { MINUS = 1 };

static void
protect_numbers(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] == '-' && (strchr(".0123456789", argv[i][1]) || !strncmp(argv[i], "-inf", 4)) &&
			argv[i][1])
			argv[i][0] = MINUS;
}

static void
restore_numbers(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] == MINUS)
			argv[i][0] = '-';
}

/* The word that getopt reads next, for messages. It must be asked for before getopt runs: afterwards optind may
   still be on the word or past it, and getopt has moved words without a dash behind the options. */
static char *
next_word(int argc, char **argv)
{
	for (int i = optind ? optind : 1; i < argc; i++)
		if (argv[i][0] == '-' && argv[i][1])
			return argv[i];
	return NULL;
}

/* Returns 1 for words such as -(3), --5, -sqrt(2) and -pi*2, which are meant as expressions, not as options. */
static int
looks_computed(const char *word)
{
	const char *s = word + strspn(word, "-");
	size_t name = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789");

	return (*s && strchr("(.0123456789", *s)) || (name && s[name] && strchr("(*+ ", s[name]));
}

static hu_status
unknown(const hu_opt *opts, int n, const char *word)
{
	if (looks_computed(word))
		return hu_fail(HU_EINVAL,
			"unknown or ambiguous option '%s'; put -- before a value or expression that begins with a "
			"minus",
			word);
	const char **names = hu_xcalloc((size_t)n + 1, sizeof *names);
	char *bare = hu_xstrdup(word + strspn(word, "-"));

	bare[strcspn(bare, "=")] = 0;
	for (int i = 0; i < n; i++)
		names[i] = hu_spec_is_key(&opts[i]) ? "" : opts[i].name;
	const char *near = hu_nearest(bare, names, (size_t)n);
	if (near)
		hu_fail(HU_EINVAL, "unknown or ambiguous option '%s'; did you mean --%s?", word, near);
	else
		hu_fail(HU_EINVAL, "unknown or ambiguous option '%s'; --help lists them", word);
	free(names);
	free(bare);
	return HU_EINVAL;
}

hu_status
hu_args_parse(hu_args *a, const hu_opt *opts, int argc, char **argv)
{
	int n = count(opts), out = -1, c, at = 0, cap = 0, k = 0;
	struct option *lo = hu_xcalloc((size_t)n + 3, sizeof *lo);

	memset(a, 0, sizeof *a);
	a->opts = opts;
	a->value = hu_xcalloc((size_t)n + 1, sizeof *a->value);
	a->given = hu_xcalloc((size_t)n + 1, sizeof *a->given);
	for (int i = 0; i < n; i++) {
		if (!hu_spec_is_key(&opts[i]))
			lo[k++] = (struct option){ opts[i].name, opts[i].arg ? required_argument : no_argument, NULL,
				256 + i };
		a->value[i] = (char *)(size_t)opts[i].def;
		if (!strcmp(opts[i].name, "out"))
			out = i;
	}
	lo[k++] = (struct option){ "help", no_argument, NULL, 256 + n };
	lo[k] = (struct option){ "max-memory", required_argument, NULL, 256 + n + 1 };
	optind = 0;
	opterr = 0;
	protect_numbers(argc, argv);
	for (char *word; word = next_word(argc, argv), (c = getopt_long(argc, argv, ":ho:", lo, &at)) != -1;) {
		int i = c == 'h' ? n : c == 'o' ? out : c - 256;
		if (i < 0)
			c = '?';
		if (c == ':' || c == '?')
			restore_numbers(argc, argv);
		if (c == ':') {
			free(lo);
			return hu_fail(HU_EINVAL, "%s needs a value", argv[optind - 1]);
		}
		if (c == '?') {
			free(lo);
			return unknown(opts, n, word);
		}
		if (i == n + 1) {
			a->max_memory = optarg;
			continue;
		}
		a->given[i]++;
		if (i == n)
			continue;
		a->value[i] = opts[i].arg ? optarg : (char *)(size_t) "1";
		HU_GROW(a->each, a->neach, cap);
		a->each[a->neach].opt = i;
		a->each[a->neach++].value = a->value[i];
	}
	free(lo);
	restore_numbers(argc, argv);
	a->rest = argv + optind;
	a->nrest = argc - optind;
	return hu_spec_settle(a);
}

void
hu_args_release(hu_args *a)
{
	free(a->value);
	free(a->given);
	free(a->each);
	for (int i = 0; i < a->nown; i++)
		free(a->own[i]);
	free(a->own);
	memset(a, 0, sizeof *a);
}

int
hu_args_help(const hu_args *a)
{
	return a->given[count(a->opts)];
}

const char *
hu_args_text(const hu_args *a, const char *name)
{
	return a->value[find(a, name)];
}

int
hu_args_has(const hu_args *a, const char *name)
{
	for (int i = 0; a->opts[i].name; i++)
		if (!strcmp(a->opts[i].name, name))
			return 1;
	return 0;
}

int
hu_args_given(const hu_args *a, const char *name)
{
	return a->given[find(a, name)];
}

const char *
hu_args_nth(const hu_args *a, const char *name, int k)
{
	int opt = find(a, name);

	for (int i = 0; i < a->neach; i++)
		if (a->each[i].opt == opt && k-- == 0)
			return a->each[i].value;
	return NULL;
}

char *
hu_args_line(const hu_args *a, const char *name)
{
	hu_str b;

	hu_str_init(&b);
	hu_str_addf(&b, "halfulp %s", name);
	for (int i = 0; i < a->nrest; i++) {
		hu_str_add(&b, " ");
		hu_show_word(&b, a->rest[i]);
	}
	for (int i = 0; i < a->neach; i++) {
		const hu_opt *o = &a->opts[a->each[i].opt];
		hu_str_addf(&b, o->arg ? " --%s=" : " --%s", o->name);
		if (o->arg)
			hu_show_word(&b, a->each[i].value);
	}
	return b.s;
}

/* Says that the option or key lacks a value, or that the value is not one of `needed`. */
static hu_status
wrong(const char *name, const char *value, const char *needed)
{
	hu_str row;

	hu_str_init(&row);
	hu_spec_say(&row, name);
	if (value)
		hu_fail(HU_EINVAL, "%s%s%s: %s is needed", row.s, strchr(name, ':') ? "" : " ", value, needed);
	else
		hu_fail(HU_EINVAL, "%s is needed", row.s);
	hu_str_release(&row);
	return HU_EINVAL;
}

hu_status
hu_args_int(const hu_args *a, const char *name, long long min, long long max, long long *out)
{
	const char *s = hu_args_text(a, name);
	char *end, needed[80];

	if (!s)
		return wrong(name, NULL, NULL);
	errno = 0;
	*out = strtoll(s, &end, 0);
	snprintf(needed, sizeof needed, "an integer from %lld to %lld", min, max);
	return end == s || *end || errno || *out < min || *out > max ? wrong(name, s, needed) : HU_OK;
}

int
hu_parse_real(const char *s, double *out)
{
	char *end;

	if (!strncmp(s, "2^", 2)) {
		long e = strtol(s + 2, &end, 10);
		*out = ldexp(1.0, e < -9999 ? -9999 : e > 9999 ? 9999 : (int)e);
		return end != s + 2 && !*end;
	}
	*out = strtod(s, &end);
	return end != s && !*end;
}

hu_status
hu_args_real(const hu_args *a, const char *name, double min, double max, double *out)
{
	const char *s = hu_args_text(a, name);
	char needed[80];

	if (!s)
		return wrong(name, NULL, NULL);
	snprintf(needed, sizeof needed, "a number from %g to %g", min, max);
	return !hu_parse_real(s, out) || !(*out >= min && *out <= max) ? wrong(name, s, needed) : HU_OK;
}
