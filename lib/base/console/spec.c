/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/spec.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
hu_spec_is_key(const hu_opt *row)
{
	return row->name && strchr(row->name, ':') != NULL;
}

int
hu_spec_is_key_of(const hu_opt *row, const char *option)
{
	size_t n = strlen(option);

	return row->name && !strncmp(row->name, option, n) && row->name[n] == ':';
}

int
hu_spec_has_keys(const hu_opt *opts, const char *option)
{
	while (opts->name && !hu_spec_is_key_of(opts, option))
		opts++;
	return opts->name != NULL;
}

const char *
hu_spec_key(const hu_opt *row)
{
	static char text[4][64];
	static int at;
	const char *key = strchr(row->name, ':') + 1;
	char *to = text[at++ % 4];

	snprintf(to, sizeof *text, "%.*s", (int)strcspn(key, "="), key);
	return to;
}

void
hu_spec_say(hu_str *to, const char *name)
{
	const char *key = strchr(name, ':');

	if (key)
		hu_str_addf(to, "--%.*s %.*s=", (int)(key - name), name, (int)strcspn(key + 1, "="), key + 1);
	else
		hu_str_addf(to, "--%s", name);
}

static int
stays(const hu_opt *row)
{
	return row->name[strlen(row->name) - 1] == '=';
}

/* One option's value while its occurrences are read. */
typedef struct reading {
	hu_args *a;
	int option;
	hu_str head;  /* the name; empty: none was given */
	hu_str rest;  /* what stays behind the colon */
	int key;      /* the row whose value is read; -1: what stays */
	int first;    /* what is read stands directly behind the name, where a path may be */
	hu_str value; /* of that key */
	char *seen;   /* by row: the value that is read has this key */
} reading;

static void
keep(hu_args *a, int row, const char *value)
{
	a->own = hu_xrealloc(a->own, (size_t)(a->nown + 1) * sizeof *a->own);
	a->value[row] = a->own[a->nown++] = hu_xstrdup(value);
	a->given[row]++;
}

static void
end_key(reading *r)
{
	if (r->key >= 0)
		keep(r->a, r->key, r->value.s);
	r->key = -1;
	hu_str_release(&r->value);
	hu_str_init(&r->value);
}

/* Returns the row of the option's key that the n characters at s name, or -1. */
static int
row_of(const reading *r, const char *s, size_t n)
{
	const hu_opt *opts = r->a->opts;

	for (int i = 0; opts[i].name; i++) {
		const char *key = hu_spec_is_key_of(&opts[i], opts[r->option].name) ? hu_spec_key(&opts[i]) : NULL;
		if (key && strlen(key) == n && !strncmp(key, s, n))
			return i;
	}
	return -1;
}

/* Returns how long the word at s is that could be a key before '='; 0 where there is none. */
static size_t
key_length(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789-");

	return s[n] == '=' ? n : 0;
}

static hu_status
unknown_key(const reading *r, const char *s, size_t n)
{
	const hu_opt *opts = r->a->opts;
	const char *option = opts[r->option].name, *names[64], *near;
	char *word = hu_xprintf("%.*s", (int)n, s);
	int count = 0;
	hu_str all;

	hu_str_init(&all);
	for (int i = 0; opts[i].name && count < 64; i++)
		if (hu_spec_is_key_of(&opts[i], option)) {
			names[count] = strchr(opts[i].name, ':') + 1;
			hu_str_addf(&all, "%s%s", count++ ? ", " : "", hu_spec_key(&opts[i]));
		}
	near = hu_nearest(word, names, (size_t)count);
	hu_fail(HU_EINVAL, "--%s: unknown key '%s'; %s%.*s%skeys are %s", option, word, near ? "did you mean " : "",
		near ? (int)strcspn(near, "=") : 0, near ? near : "", near ? "? The " : "the ", all.s);
	free(word);
	hu_str_release(&all);
	return HU_EINVAL;
}

/* Reads one part between commas. */
static hu_status
read_part(reading *r, const char *s, size_t n)
{
	size_t name = key_length(s);
	int row = name && name < n ? row_of(r, s, name) : row_of(r, s, n);

	if (name && name < n && row < 0)
		return unknown_key(r, s, name);
	if (row >= 0 && !(name && name < n) && r->a->opts[row].arg && r->key < 0 && !r->first)
		return hu_fail(HU_EINVAL, "--%s: %s needs a value, as in %s=%s", r->a->opts[r->option].name,
			hu_spec_key(&r->a->opts[row]), hu_spec_key(&r->a->opts[row]), r->a->opts[row].arg);
	if (row >= 0 && !(name && name < n) && r->a->opts[row].arg)
		row = -1; /* a word of the list before it */
	else if (row >= 0)
		end_key(r);
	if (row >= 0 && r->seen[row]++)
		return hu_fail(HU_EINVAL, "--%s: %s%s is there twice; leave out one", r->a->opts[r->option].name,
			hu_spec_key(&r->a->opts[row]), r->a->opts[row].arg ? "=" : "");
	if (row >= 0 && !r->a->opts[row].arg && !stays(&r->a->opts[row])) {
		keep(r->a, row, "1");
	} else if (row >= 0 && !stays(&r->a->opts[row])) {
		r->key = row;
		hu_str_addn(&r->value, s + name + 1, n - name - 1);
	} else if (row < 0 && r->key >= 0) {
		hu_str_add(&r->value, ",");
		hu_str_addn(&r->value, s, n);
	} else {
		hu_str_add(&r->rest, r->rest.len ? "," : "");
		hu_str_addn(&r->rest, s, n);
	}
	return HU_OK;
}

/* Returns 1 where the n characters at s are a key that takes no value, and no name with keys behind a colon. */
static int
is_switch(const reading *r, const char *s, size_t n)
{
	int row = row_of(r, s, n);

	return s[n] != ':' && row >= 0 && !r->a->opts[row].arg;
}

/* Reads one value of the option. A name puts away what stayed behind the name before it. */
static hu_status
read_value(reading *r, const char *text)
{
	size_t n = strcspn(text, ":,=");
	hu_status st = HU_OK;

	r->first = 0;
	for (int i = 0; r->a->opts[i].name; i++)
		r->seen[i] = 0;
	if (key_length(text) && row_of(r, text, n) < 0)
		return unknown_key(r, text, n);
	if (!key_length(text) && !is_switch(r, text, n)) {
		const char *all = text;
		n = strcspn(text, ":");
		if (memchr(text, '=', n))
			return hu_fail(HU_EINVAL,
				"--%s %s: a colon is needed between the name and its keys, as in "
				"NAME:key=value,key=value",
				r->a->opts[r->option].name, hu_shown(text));
		hu_str_release(&r->head);
		hu_str_release(&r->rest);
		hu_str_init(&r->head);
		hu_str_init(&r->rest);
		hu_str_addn(&r->head, text, n);
		r->first = text[n] == ':';
		text += n + (size_t)r->first;
		if (r->first && !*text)
			return hu_fail(HU_EINVAL,
				"--%s %s: a key and its value, key=value, are needed behind the colon",
				r->a->opts[r->option].name, hu_shown(all));
	}
	while (*text && st == HU_OK) {
		n = strcspn(text, ",");
		st = read_part(r, text, n);
		r->first = 0;
		text += n + (text[n] == ',');
	}
	end_key(r);
	return st;
}

static hu_status
settle(hu_args *a, int option)
{
	reading r = { .a = a, .option = option, .key = -1 };
	hu_status st = HU_OK;
	int named = 0, rows = 0;

	while (a->opts[rows].name)
		rows++;
	r.seen = hu_xcalloc((size_t)rows + 1, 1);
	hu_str_init(&r.head);
	hu_str_init(&r.rest);
	hu_str_init(&r.value);
	for (int i = 0; i < a->neach && st == HU_OK; i++)
		if (a->each[i].opt == option)
			st = read_value(&r, a->each[i].value);
	named = r.head.len > 0;
	if (st == HU_OK && !named && a->opts[option].def)
		hu_str_add(&r.head, a->opts[option].def);
	if (st == HU_OK) {
		if (r.rest.len) {
			hu_str_add(&r.head, ":");
			hu_str_add(&r.head, r.rest.s);
		}
		keep(a, option, r.head.s);
		a->given[option] = named || r.rest.len;
		if (!r.head.len)
			a->value[option] = NULL;
	}
	free(r.seen);
	hu_str_release(&r.head);
	hu_str_release(&r.rest);
	hu_str_release(&r.value);
	return st;
}

hu_status
hu_spec_settle(hu_args *a)
{
	for (int i = 0; a->opts[i].name; i++)
		if (a->given[i] && hu_spec_has_keys(a->opts, a->opts[i].name))
			HU_TRY(settle(a, i));
	return HU_OK;
}

static const struct setting {
	const char *name, *key;
} settings[] = {
#define SETTING(name, key) { name, key },
#include "lib/base/console/settings.def"
#undef SETTING
};

const char *
hu_spec_setting(const char *name)
{
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (!strcmp(settings[i].name, name))
			return settings[i].key;
	return name;
}
