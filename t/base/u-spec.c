/* SPDX-License-Identifier: Apache-2.0
   lib/base/console/spec: NAME[:key=value,…] of an option whose table has keys. */
#include "lib/base/console/opt.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/spec.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = { { "kind", "NAME", NULL, "" }, { "kind:rate", "X", "0.5", "" },
	{ "kind:list", "LIST", NULL, "" }, { "kind:own=", "HOW", "rne", "" }, { "kind:feedback=", NULL, NULL, "" },
	{ "data:flip", NULL, NULL, "" }, { "data", "SET", "digits", "" }, { "data:train", "N", "10", "" },
	{ "data:seed", "N", "0", "" }, { "lr", "X", NULL, "" }, { NULL, NULL, NULL, NULL } };

/* What a line means: kind, kind:rate, kind:list, data, data:train, data:flip, with - for NULL; or the reason why it is
 * refused. */
static const char *
meaning(const char *text)
{
	static char out[512];
	char copy[256], *word[16] = { "cmd" };
	hu_args a;
	int n = 1;

	snprintf(copy, sizeof copy, "%s", text);
	for (char *s = strtok(copy, " "); s && n < 16; s = strtok(NULL, " "))
		word[n++] = s;
	if (hu_args_parse(&a, opts, n, word) != HU_OK) {
		snprintf(out, sizeof out, "%s", hu_reason());
	} else {
		const char *of[] = { "kind", "kind:rate", "kind:list", "data", "data:train", "data:flip" };
		*out = 0;
		for (int i = 0; i < 6; i++) {
			const char *s = hu_args_text(&a, of[i]);
			snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s%s", i ? " " : "", s ? s : "-",
				hu_args_given(&a, of[i]) ? "!" : "");
		}
	}
	hu_args_release(&a);
	return out;
}

static const struct {
	const char *line, *means;
} rows[] = {
	{ "", "- 0.5 - digits 10 -" },
	{ "--kind a", "a! 0.5 - digits 10 -" },
	{ "--kind a:rate=2^-3", "a! 2^-3! - digits 10 -" },
	{ "--kind=a:rate=1,list=x", "a! 1! x! digits 10 -" },
	/* keys alone leave the name as it is */
	{ "--kind rate=1", "- 1! - digits 10 -" },
	{ "--data train=3", "- 0.5 - digits 3! -" },
	{ "--data train=", "- 0.5 - digits ! -" },
	{ "--kind a --kind rate=1 --kind list=y", "a! 1! y! digits 10 -" },
	{ "--kind rate=1 --kind a:rate=2", "a! 2! - digits 10 -" },
	/* a list goes on behind its commas */
	{ "--kind a:list=x,y,z,rate=1", "a! 1! x,y,z! digits 10 -" },
	{ "--kind list=rate,list", "- 0.5 rate,list! digits 10 -" },
	/* keys that the name's own parser reads stay, in their order, without the others; words too */
	{ "--kind a:8,own=sr,rate=1,feedback", "a:8,own=sr,feedback! 1! - digits 10 -" },
	{ "--kind own=sr", ":own=sr! 0.5 - digits 10 -" },
	{ "--kind a:own=sr --kind b", "b! 0.5 - digits 10 -" },
	{ "--kind a:own=sr --kind own=rne", "a:own=sr,own=rne! 0.5 - digits 10 -" },
	{ "--data x:/a,b/c=d,train=7", "- 0.5 - x:/a,b/c=d! 7! -" },
	{ "--data x:train", "- 0.5 - x:train! 10 -" },
	{ "--data x:train,train=7", "- 0.5 - x:train! 7! -" },
	/* a key without a value is there or not, alone and behind others */
	{ "--data flip", "- 0.5 - digits 10 1!" },
	{ "--data x:train=7,flip", "- 0.5 - x! 7! 1!" },
	{ "--data flip,train=7", "- 0.5 - digits 7! 1!" },
	{ "--data flip:train=7", "- 0.5 - flip! 7! -" },
	/* what is refused, in one line */
	{ "--kind a:rat=1", "--kind: unknown key 'rat'; did you mean rate? The keys are rate, list, own, feedback" },
	{ "--kind zzzzzz=1", "--kind: unknown key 'zzzzzz'; the keys are rate, list, own, feedback" },
	{ "--kind a:", "--kind a:: a key and its value, key=value, are needed behind the colon" },
	{ "--kind a,rate=1", "--kind a,rate=1: a colon is needed between the name and its keys, as in "
			     "NAME:key=value,key=value" },
	{ "--kind a:rate=1,rate=2", "--kind: rate= is there twice; leave out one" },
	{ "--kind own=sr,own=rne", "--kind: own= is there twice; leave out one" },
	{ "--kind a:list=x,y,list=z", "--kind: list= is there twice; leave out one" },
	{ "--data flip,train=7,flip", "--data: flip is there twice; leave out one" },
	{ "--kind rate=1 --kind rate=2", "- 2! - digits 10 -" },
	{ "--kind a:8,rate", "--kind: rate needs a value, as in rate=X" },
	{ "--kind:rate=1", "unknown or ambiguous option '--kind:rate=1'; --help lists them" },
};

static void
test_said(void)
{
	hu_str s;

	hu_str_init(&s);
	hu_spec_say(&s, "lr");
	hu_str_add(&s, " ");
	hu_spec_say(&s, "kind:own=");
	is_text(s.s, "--lr --kind own=", "an option and a key as they are written");
	hu_str_release(&s);
	hu_refuse("kind:rate", "here");
	is_text(hu_reason(), "--kind rate= has no effect here; leave it out", "a key without an effect");
}

static void
test_values(void)
{
	char one[] = "--kind=rate=7x", *line[] = { "cmd", one };
	hu_args a;
	double x;

	ok(hu_args_parse(&a, opts, 2, line) == HU_OK && hu_args_real(&a, "kind:rate", 0, 1, &x) == HU_EINVAL,
		"a key's value has bounds");
	is_text(hu_reason(), "--kind rate=7x: a number from 0 to 1 is needed", "and is refused by its name");
	hu_args_release(&a);
}

static void
test_settings(void)
{
	is_text(hu_spec_setting("growth-factor"), "loss-scale:growth", "a setting of a manifest has its key's name");
	is_text(hu_spec_setting("seed"), "seed", "and one that is an option its own");
}

int
main(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		is_text(meaning(rows[i].line), rows[i].means, "%s", rows[i].line);
	test_said();
	test_values();
	test_settings();
	return done_testing();
}
