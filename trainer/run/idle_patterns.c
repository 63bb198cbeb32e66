/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/run/idle.h"

#include "lib/base/console/spec.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

/* The tensors of several programs, one program's after another's. */
typedef struct programs {
	const hu_program *const *p;
	int n;
} programs;

static const hu_info *
info_of(const programs *all, size_t i)
{
	int k = 0;

	for (; i >= (size_t)all->p[k]->nt; k++)
		i -= (size_t)all->p[k]->nt;
	return &all->p[k]->t[i];
}

static const char *
tensor(const void *of, size_t i)
{
	return info_of(of, i)->name;
}

static const char *
parameter(const void *of, size_t i)
{
	const hu_info *t = info_of(of, i);

	return t->trainable ? t->name : NULL;
}

/* Returns the first of the patterns that names nothing which the option is about; NULL where there is none. */
static char *
unmatched(const char *option, const char *patterns, programs all)
{
	size_t n = 0;

	for (int k = 0; k < all.n; k++)
		n += (size_t)all.p[k]->nt;
	return hu_str_unmatched(patterns, strcmp(option, "optimizer:no_decay") ? tensor : parameter, &all, n);
}

static hu_status
fit(const char *option, const char *patterns, programs all)
{
	char *idle = patterns ? unmatched(option, patterns, all) : NULL;
	hu_str row;

	if (!idle)
		return HU_OK;
	hu_str_init(&row);
	hu_spec_say(&row, option);
	hu_fail(HU_EINVAL,
		"%s has no effect by the pattern '%s': no %s of %s has such a name; `halfulp plan --program` lists "
		"them",
		row.s, hu_shown(idle), strcmp(option, "optimizer:no_decay") ? "tensor" : "parameter",
		all.n > 1 ? "these policies' programs" : "this program");
	hu_str_release(&row);
	free(idle);
	return HU_EINVAL;
}

hu_status
hu_idle_patterns_among(const hu_config *c, const hu_program *const *train, int n)
{
	programs all = { train, n };

	HU_TRY(fit("optimizer:no_decay", c->no_decay, all));
	if (c->trace_steps && strcmp(c->trace_steps, "none"))
		HU_TRY(fit("trace", c->trace, all));
	return fit("count", c->count, all);
}

hu_status
hu_idle_patterns(const hu_config *c, const hu_program *train)
{
	return hu_idle_patterns_among(c, &train, 1);
}

char *
hu_idle_fitting(const char *option, const char *patterns, const hu_program *train)
{
	char *all = hu_xstrdup(patterns), *save = NULL;
	hu_str some;

	hu_str_init(&some);
	for (char *s = strtok_r(all, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		char *idle = unmatched(option, s, (programs){ &train, 1 });
		if (!idle)
			hu_str_addf(&some, "%s%s", some.len ? "," : "", s);
		free(idle);
	}
	free(all);
	return some.s;
}
