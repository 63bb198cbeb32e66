/* SPDX-License-Identifier: Apache-2.0
   Expressions, rules and specifications by the thousand: those of t/fuzz/specs.txt as they are, then with words put in
   each other's places, numbers become telling ones, parts doubled, cut out and put in, from a fixed seed (HALFULP_SEED
   sets another, HALFULP_FUZZ another number of texts a reader, HALFULP_SPEC one reader). Under AddressSanitizer it also
   sees reads beyond a text's end, because each text has memory of its own.
   Promise: Any text as an expression, rule, policy, model of sums, scheme, tool, graph or program is refused in one
   line or means what it says. */
#include "t/fuzz/specs.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct seeds {
	char **text;
	size_t n, cap;
} seeds;

static const char *const telling[] = { "0", "-0", "1", "-1", "2147483647", "2147483648", "4294967296",
	"9223372036854775807", "18446744073709551616", "1e308", "1e999", "-1e-999", "nan", "inf", "0x", "0x1p-1074",
	".5", "1.", "1e", "1e+", "00000000000000000000001", "%", "%s%n", "\xc3\xa9", "\xff", "\x1b[2J", "\t", "\n", " ",
	"" };
static const char *const signs[] = { ",", ":", "=", "<=", ">=", "<", ">", "(", ")", "((((((((", "))))))))", "+", "-",
	"*", "/", "^", "..", ".", ";", "?", "$", "\"", "'", "[", "]", "{", "}", "|", "!", "@", "#", "~", "\\", "×",
	"−" };

enum { TELLING = sizeof telling / sizeof *telling, SIGNS = sizeof signs / sizeof *signs };

static uint64_t seed = 1, drawn;
static const char *now_read; /* the text that a reader has at present */

/* An assertion that fails ends the program: which text was it? */
static void
aborted(int signal)
{
	static const char head[] = "\nthe text is: ";

	(void)signal;
	if (write(2, head, sizeof head - 1) > 0 && now_read && write(2, now_read, strlen(now_read)) > 0)
		_exit(1);
	_exit(1);
}

static int
try(int row, const char *text)
{
	now_read = text;
	int taken = spec_try(row, text);
	now_read = NULL;
	return taken;
}

static size_t
draw(size_t below)
{
	return hu_random_word(seed, 77, 0, drawn++) % (below ? below : 1);
}

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Where a word or a run of signs begins that is chosen at random, and how long it is. */
static size_t
piece(const char *s, size_t *n)
{
	size_t at = draw(strlen(s) + 1), end;

	if (!s[at]) {
		*n = 0;
		return at;
	}
	int word = is_word(s[at]);
	while (at && is_word(s[at - 1]) == word)
		at--;
	for (end = at; s[end] && is_word(s[end]) == word;)
		end++;
	*n = end - at;
	return at;
}

/* text with the n characters from `at` on replaced. */
static char *
with(const char *text, size_t at, size_t n, const char *new, size_t length)
{
	hu_str s;

	hu_str_init(&s);
	hu_str_addf(&s, "%.*s%.*s%s", (int)at, text, (int)length, new, text + at + n);
	return s.s;
}

static char *
changed(const char *text, const seeds *all)
{
	const char *other = all->text[draw(all->n)];
	size_t n, m, at = piece(text, &n), from = piece(other, &m);

	switch (draw(9)) {
	case 0: return with(text, at, n, other + from, m);
	case 1: return with(text, at, 0, other + from, m);
	case 2: return with(text, at, n, "", 0);
	case 3: return with(text, at + n, 0, text + at, strlen(text + at));
	case 4: {
		const char *t = telling[draw(TELLING)];
		return with(text, at, n, t, strlen(t));
	}
	case 5: {
		const char *t = signs[draw(SIGNS)];
		return with(text, at, 0, t, strlen(t));
	}
	case 6: {
		char byte = (char)(1 + draw(255));
		at = draw(strlen(text) + 1);
		return with(text, at, text[at] ? draw(2) : 0, &byte, 1);
	}
	case 7: return with(text, at + n, strlen(text + at + n), other + from, strlen(other + from));
	default: return with(text, draw(strlen(text) + 1), 0, text, strlen(text));
	}
}

static void
try_reader(int row, const seeds *all, size_t kept, size_t texts)
{
	size_t taken = 0;

	for (size_t i = 0; i < texts; i++) {
		char *text = hu_xstrdup(all->text[draw(all->n)]);
		for (size_t k = 1 + draw(6) / 3 + draw(9) / 8; k--;) {
			char *next = changed(text, all);
			free(text);
			text = next;
		}
		taken += (size_t)try(row, text);
		free(text);
	}
	ok(kept && taken < texts, "%s: %zu of %zu texts of the file and %zu of %zu changed ones are taken",
		spec_name(row), kept, all->n, taken, texts);
}

/* Reads the texts of a reader: all whose lines begin with its name. */
static seeds
read_seeds(const char *file, int row)
{
	seeds s = { NULL, 0, 0 };
	size_t name = strlen(spec_name(row));

	for (const char *line = file; *line;) {
		size_t n = strcspn(line, "\n");
		if (n > name && !strncmp(line, spec_name(row), name) && line[name] == '\t') {
			HU_GROW(s.text, s.n, s.cap);
			s.text[s.n++] = hu_xprintf("%.*s", (int)(n - name - 1), line + name + 1);
		}
		line += n + (line[n] != 0);
	}
	return s;
}

int
main(void)
{
	const char *top = getenv("srcdir"), *only = getenv("HALFULP_SPEC");
	size_t texts = getenv("HALFULP_FUZZ") ? strtoull(getenv("HALFULP_FUZZ"), NULL, 0) : 2000, n;
	char *path = hu_path(top ? top : ".", "t/fuzz/specs.txt"), *file;

	signal(SIGABRT, aborted);
	if (getenv("HALFULP_SEED"))
		seed = strtoull(getenv("HALFULP_SEED"), NULL, 0);
	if (hu_file_read(path, &file, &n) != HU_OK)
		bail_out("%s", hu_reason());
	free(path);
	diag("seed %llu, %zu texts a reader", (unsigned long long)seed, texts);
	for (int row = 0; spec_name(row); row++) {
		if (only && strcmp(only, spec_name(row)))
			continue;
		seeds s = read_seeds(file, row);
		size_t kept = 0;
		if (!s.n)
			bail_out("t/fuzz/specs.txt has no text for %s", spec_name(row));
		for (size_t i = 0; i < s.n; i++)
			kept += (size_t)try(row, s.text[i]);
		try_reader(row, &s, kept, strcmp(spec_name(row), "expression") ? texts : texts / 4);
		for (size_t i = 0; i < s.n; i++)
			free(s.text[i]);
		free(s.text);
	}
	free(file);
	return done_testing();
}
