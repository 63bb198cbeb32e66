/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/addition.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ADDITIONS = 4 };
static const hu_command_addition *addition[MOST_ADDITIONS];
static int additions;

void
hu_command_add(const hu_command_addition *x)
{
	HU_ASSERT(additions < MOST_ADDITIONS);
	addition[additions++] = x;
}

static const hu_command *with_words;
static int (*print_words)(const hu_args *a);

void
hu_command_words_set(const hu_command *c, int (*print)(const hu_args *a))
{
	with_words = c;
	print_words = print;
}

int
hu_command_words_help(const hu_command *c, const hu_args *a)
{
	return c == with_words && print_words(a);
}

static size_t
length(const hu_opt *opts)
{
	size_t n = 0;

	while (opts[n].name)
		n++;
	return n;
}

/* Appends the options of `from` but an --out that *to has; none of the others may be there. */
static void
join(hu_opt **to, const hu_opt *from)
{
	size_t n = *to ? length(*to) : 0, own = n;

	*to = hu_xrealloc(*to, (n + length(from) + 1) * sizeof **to);
	for (; from->name; from++) {
		size_t i = 0;
		while (i < own && strcmp((*to)[i].name, from->name))
			i++;
		if (i == own)
			(*to)[n++] = *from;
		else
			HU_ASSERT(!strcmp(from->name, "out"));
	}
	(*to)[n] = *from;
}

const hu_opt *
hu_command_opts(const hu_command *c)
{
	static hu_opt *joined;

	free(joined);
	joined = NULL;
	join(&joined, c->opts);
	for (int i = 0; i < additions; i++)
		if (addition[i]->belongs(c))
			join(&joined, addition[i]->opts);
	return joined;
}

hu_status
hu_addition_idle(const hu_command_addition *x, const hu_args *a)
{
	for (const hu_opt *o = x->opts; o->name; o++)
		if (strcmp(o->name, "out") && hu_args_given(a, o->name))
			return hu_refuse(o->name, x->without);
	return HU_OK;
}

hu_status
hu_command_asked(const hu_command *c, const hu_args *a, const hu_command_addition **asked)
{
	*asked = NULL;
	for (int i = 0; i < additions && !*asked; i++)
		if (addition[i]->belongs(c) && addition[i]->asked(c, a))
			*asked = addition[i];
	for (int i = 0; i < additions && !*asked; i++)
		if (addition[i]->belongs(c))
			HU_TRY(hu_addition_idle(addition[i], a));
	return HU_OK;
}
