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

static size_t
length(const hu_opt *opts)
{
	size_t n = 0;

	while (opts[n].name)
		n++;
	return n;
}

/* Appends the options of `from`, none of which *to may have. */
static void
join(hu_opt **to, const hu_opt *from)
{
	size_t n = *to ? length(*to) : 0, m = length(from);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			HU_ASSERT(strcmp((*to)[i].name, from[k].name));
	*to = hu_xrealloc(*to, (n + m + 1) * sizeof **to);
	memcpy(*to + n, from, (m + 1) * sizeof **to);
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

/* Returns the first of the addition's options that was given. */
static const char *
first_given(const hu_command_addition *x, const hu_args *a)
{
	const hu_opt *o = x->opts;

	while (o->name && !hu_args_given(a, o->name))
		o++;
	return o->name;
}

hu_status
hu_command_asked(const hu_command *c, const hu_args *a, const hu_command_addition **asked)
{
	*asked = NULL;
	for (int i = 0; i < additions; i++) {
		const hu_command_addition *x = addition[i];
		if (!x->belongs(c))
			continue;
		HU_TRY(hu_args_need(a, x->needs, a));
		if (!x->asked(a))
			continue;
		if (*asked)
			return hu_fail(HU_EINVAL,
				"--%s and --%s each make a file of what the command prints; give one at a time",
				first_given(*asked, a), first_given(x, a));
		*asked = x;
	}
	return HU_OK;
}
