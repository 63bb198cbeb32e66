/* SPDX-License-Identifier: Apache-2.0
   Looks up which options have no effect, and says why. */
#include "lib/base/console/opt_need.h"

#include "lib/base/console/spec.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <string.h>

int
hu_word_in(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = list; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");
		if (n == len && !memcmp(s, word, n))
			return 1;
		s += n;
	}
	return 0;
}

const char *
hu_unmet(const hu_opt_need *needs, const void *of, const char *option)
{
	for (const hu_opt_need *n = needs; n && n->options; n++)
		if (hu_word_in(n->options, option) && !n->met(of))
			return n->why;
	return NULL;
}

char *
hu_unread(const char *kind, hu_opt_reader (*at)(int i), const char *chosen, const char *option)
{
	const char *reads = NULL;
	hu_opt_reader r;
	hu_str by;

	hu_str_init(&by);
	for (int i = 0; (r = at(i)).name; i++) {
		if (!strcmp(r.name, chosen))
			reads = r.reads;
		if (hu_word_in(r.reads, option))
			hu_str_addf(&by, "%s%s", by.len ? ", " : "", r.name);
	}
	char *why = by.len && reads && !hu_word_in(reads, option)
			    ? hu_xprintf("with %s %s, which does not read it (%s)", kind, chosen, by.s)
			    : NULL;
	hu_str_release(&by);
	return why;
}

hu_status
hu_refuse(const char *option, const char *why)
{
	hu_str row;

	hu_str_init(&row);
	hu_spec_say(&row, option);
	hu_fail(HU_EINVAL, "%s has no effect %s; leave it out", row.s, why);
	hu_str_release(&row);
	return HU_EINVAL;
}

hu_status
hu_args_need(const hu_args *a, const hu_opt_need *needs, const void *of)
{
	for (int i = 0; a->opts[i].name; i++) {
		const char *why = a->given[i] ? hu_unmet(needs, of, a->opts[i].name) : NULL;
		if (why)
			return hu_refuse(a->opts[i].name, why);
	}
	return HU_OK;
}
