/* SPDX-License-Identifier: Apache-2.0
   What commands say of shards: the option, the command line that a merging process repeats, and the parts that the
   command merge hands on. */
#include "lib/base/parts/parts.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/console/spec.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static hu_parts *offered;
static int only_asked;

void
hu_parts_offer(hu_parts *p, int only)
{
	offered = p;
	only_asked = only;
}

hu_parts *
hu_parts_offered(void)
{
	return offered;
}

int
hu_parts_only_asked(void)
{
	return offered && only_asked;
}

hu_status
hu_shard_parse(hu_shard *s, const char *text)
{
	char *end = NULL, *last = NULL;
	long i = strtol(text, &end, 10), n = end > text && *end == '/' ? strtol(end + 1, &last, 10) : 0;

	if (!last || *last || last == end + 1 || n < 1 || n > 1000000 || i < 1 || i > n)
		return hu_fail(HU_EINVAL, "--shard %s: a number from 1 to N and N are needed, as in 2/7", text);
	*s = (hu_shard){ (int)i, (int)n };
	return HU_OK;
}

char *
hu_parts_command(const hu_args *a, const char *except)
{
	json_t *words = json_array();

	for (int i = 0; i < a->neach; i++) {
		const hu_opt *o = &a->opts[a->each[i].opt];
		if (hu_word_in(except, o->name))
			continue;
		json_array_append_new(words,
			o->arg ? json_sprintf("--%s=%s", o->name, a->each[i].value) : json_sprintf("--%s", o->name));
	}
	json_array_append_new(words, json_string("--"));
	for (int i = 0; i < a->nrest; i++)
		json_array_append_new(words, json_string(a->rest[i]));
	char *text = json_dumps(words, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(words);
	return text;
}

/* Appends a value such that no other options read alike. */
static void
quote(hu_str *to, const char *value)
{
	int quoted = !*value || strpbrk(value, " \"\\") != NULL;

	hu_str_add(to, quoted ? "\"" : "");
	for (const char *c = value; *c; c++)
		hu_str_addf(to, "%s%c", quoted && (*c == '"' || *c == '\\') ? "\\" : "", *c);
	hu_str_add(to, quoted ? "\"" : "");
}

/* Appends an option, with its value where it has one, and its key= where it is one of a key. */
static hu_status
add_option(hu_str *to, const hu_opt *o, const char *given, hu_status (*say)(hu_str *to, const char *value))
{
	hu_status st = HU_OK;
	hu_str value;

	hu_str_addf(to, "%s--%.*s%s", to->len ? " " : "", (int)strcspn(o->name, ":"), o->name, o->arg ? "=" : "");
	if (hu_spec_is_key(o))
		hu_str_addf(to, "%s=", hu_spec_key(o));
	hu_str_init(&value);
	if (o->arg && say)
		st = say(&value, given);
	else if (o->arg)
		hu_str_add(&value, given);
	if (o->arg)
		quote(to, value.s);
	hu_str_release(&value);
	return st;
}

hu_status
hu_parts_options(char **text, const hu_args *a, const char *except, hu_status (*say)(hu_str *to, const char *value))
{
	hu_status st = HU_OK;
	hu_str s;

	hu_str_init(&s);
	for (int k = 0; a->opts[k].name; k++) {
		const hu_opt *o = &a->opts[k];
		if (hu_word_in(except, o->name))
			continue;
		if (hu_spec_is_key(o) || hu_spec_has_keys(a->opts, o->name)) { /* in whatever order they were given */
			if (st == HU_OK && a->given[k])
				st = add_option(&s, o, a->value[k], say);
			continue;
		}
		for (int i = 0; i < a->neach && st == HU_OK; i++) {
			if (a->each[i].opt != k)
				continue;
			st = add_option(&s, o, a->each[i].value, say);
			if (!o->arg)
				break; /* a switch that is given twice is on */
		}
	}
	*text = s.s;
	return st;
}
