/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/run/idle.h"

#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/console/spec.h"
#include "lib/base/str.h"
#include "lib/program/spread/backend.h"
#include "trainer/model/loss/loss.h"

#include <stdlib.h>
#include <string.h>

static int
records(const void *of)
{
	const hu_config *c = of;

	return !c->trace_steps || strcmp(c->trace_steps, "none");
}

static int
counts_epochs(const void *of)
{
	return !((const hu_config *)of)->steps;
}

static int
rule_has_no_number(const void *of)
{
	const hu_config *c = of;

	return !c->loss_scale || strncmp(c->loss_scale, "static:", 7);
}

static int
decays(const void *of)
{
	const hu_config *c = of;

	return c->weight_decay != 0 || !hu_word_in(c->optim.row->reads, "weight_decay");
}

static int
is_over_ranks(const void *of)
{
	return ((const hu_config *)of)->over_ranks.ranks > 0;
}

static const hu_opt_need needs[] = { { "all-reduce:divide", is_over_ranks, "where no --all-reduce names ranks" },
	{ "optimizer:no_decay", decays, "where no weight decays (weight_decay=0)" },
	{ "trace trace:cap", records, "where no step is recorded (--trace steps=none)" },
	{ "epochs", counts_epochs, "beside --steps, which says when to stop" },
	{ "loss-scale:init", rule_has_no_number, "beside --loss-scale static:S, which says the scale" },
	{ NULL, NULL, NULL } };

static hu_opt_reader
model(int i)
{
	const hu_model *m = hu_model_at(i);

	return m ? (hu_opt_reader){ m->name, m->options } : (hu_opt_reader){ NULL, NULL };
}

static hu_opt_reader
optimizer(int i)
{
	const hu_optim *o = hu_optim_at(i);

	return o ? (hu_opt_reader){ o->name, o->reads } : (hu_opt_reader){ NULL, NULL };
}

static hu_opt_reader
scaler(int i)
{
	const hu_scaler *s = hu_scaler_at(i);

	return s ? (hu_opt_reader){ s->name, s->reads } : (hu_opt_reader){ NULL, NULL };
}

static hu_opt_reader
schedule(int i)
{
	const hu_schedule_row *s = hu_schedule_at(i);

	return s ? (hu_opt_reader){ s->name, s->reads } : (hu_opt_reader){ NULL, NULL };
}

static hu_opt_reader
loss(int i)
{
	const hu_loss_row *l = hu_loss_at(i);

	return l ? (hu_opt_reader){ l->name, l->reads } : (hu_opt_reader){ NULL, NULL };
}

static hu_opt_reader
dataset(int i)
{
	return (hu_opt_reader){ hu_dataset_name((size_t)i), hu_dataset_reads((size_t)i) };
}

static hu_opt_reader
backend(int i)
{
	const hu_backend *b = hu_backend_at(i);

	return b ? (hu_opt_reader){ b->name, b->reads } : (hu_opt_reader){ NULL, NULL };
}

static const struct kind {
	const char *option;
	hu_opt_reader (*at)(int i);
} kinds[] = { { "model", model }, { "optimizer", optimizer }, { "schedule", schedule }, { "loss-scale", scaler },
	{ "loss", loss }, { "data", dataset }, { "backend", backend } };

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Returns 1 where a row of the kind reads the key, and no other's word is asked for. */
static int
reads_key(hu_opt_reader (*at)(int i), const char *row, const char *key)
{
	hu_opt_reader r;

	for (int i = 0; (r = at(i)).name; i++)
		if ((!row || !strcmp(r.name, row)) && hu_word_in(r.reads, key))
			return 1;
	return 0;
}

static const struct kind *kind_asked;
static const char *row_asked;

static int
is_of_row(const char *name)
{
	const char *key = strchr(name, ':') + 1;
	char bare[64];

	snprintf(bare, sizeof bare, "%.*s", (int)strcspn(key, "="), key);
	return reads_key(kind_asked->at, row_asked, bare) || !reads_key(kind_asked->at, NULL, bare);
}

hu_status
hu_idle_keys(const char *option, const char *row, int (**reads)(const char *name))
{
	hu_opt_reader r;

	kind_asked = NULL;
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].option, option))
			kind_asked = &kinds[i];
	row_asked = row;
	*reads = is_of_row;
	for (int i = 0; kind_asked && (r = kind_asked->at(i)).name; i++)
		if (!strcmp(r.name, row))
			return HU_OK;
	return hu_fail(HU_EINVAL, "help: --%s has no '%s'", hu_shown(option), hu_shown(row));
}

/* The rows of a kind name their own keys without the kind, and only those of models and back ends other options too. */
static char *
unread(const char *kind, hu_opt_reader (*at)(int i), const char *chosen, const char *option)
{
	size_t n = strlen(kind) - 2;
	int own = !strncmp(option, kind + 2, n) && option[n] == ':';

	if (!own && at != model && at != backend)
		return NULL;
	return hu_unread(kind, at, chosen, own ? option + n + 1 : option);
}

char *
hu_config_idle(const hu_config *c, const char *option)
{
	const char *why = hu_unmet(needs, c, option);
	char data[64], *how = why ? hu_xstrdup(why) : NULL;

	snprintf(data, sizeof data, "%.*s", (int)strcspn(c->data, ":"), c->data);
	if (!how)
		how = unread("--model", model, c->row->name, option);
	if (!how)
		how = unread("--optimizer", optimizer, c->optim.row->name, option);
	if (!how)
		how = unread("--schedule", schedule, hu_schedule_at((int)c->optim.schedule.rule)->name, option);
	if (!how)
		how = unread("--loss-scale", scaler, c->scaling.rule.name, option);
	if (!how)
		how = unread("--loss", loss, hu_loss_find(c->loss)->name, option);
	if (!how)
		how = unread("--data", dataset, data, option);
	return how || !c->backend ? how : unread("--backend", backend, c->backend, option);
}

void
hu_idle_init(hu_idle *i, const hu_args *a)
{
	size_t n = 0;

	while (a->opts[n].name)
		n++;
	i->a = a;
	i->why = hu_xcalloc(n + 1, sizeof *i->why);
	i->used = hu_xcalloc(n + 1, sizeof *i->used);
}

void
hu_idle_add(hu_idle *i, const hu_config *c)
{
	for (size_t k = 0; i->a->opts[k].name; k++) {
		char *why = i->a->given[k] && !i->used[k] ? hu_config_idle(c, i->a->opts[k].name) : NULL;
		i->used[k] |= !why;
		free(i->why[k]);
		i->why[k] = why;
	}
}

hu_status
hu_idle_end(hu_idle *i)
{
	hu_status st = HU_OK;

	for (size_t k = 0; i->a->opts[k].name; k++) {
		if (st == HU_OK && i->why[k])
			st = hu_refuse(i->a->opts[k].name, i->why[k]);
		free(i->why[k]);
	}
	free(i->why);
	free(i->used);
	return st;
}

hu_status
hu_idle_refuse(const hu_args *a, const hu_config *c)
{
	hu_idle i;

	hu_idle_init(&i, a);
	hu_idle_add(&i, c);
	return hu_idle_end(&i);
}

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
