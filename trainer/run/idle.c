/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/run/idle.h"

#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/program/program.h"
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

/* Attention's results are rounded to fewer bits than float32 has somewhere. */
static int
rounds_attention(const void *of)
{
	const hu_policy *p = &((const hu_config *)of)->policy;
	int narrow = hu_format_of(hu_program_product_format(p->compute)).p < 24;

	for (int i = 0; i < p->noverride; i++)
		narrow |= hu_format_of(hu_program_product_format(p->override[i].compute)).p < 24;
	return narrow;
}

/* Whether a state has the format that the key state gives: an average, or a moment that is no code of a map (adam8bit,
   adam4bit). */
static int
has_state(const void *of)
{
	const hu_optim_options *o = &((const hu_config *)of)->optim;

	if (o->ema > 0)
		return 1;
	return hu_word_in(o->row->reads, "beta1") ? !strstr(o->row->name, "bit")
						  : o->momentum > 0 || !strcmp(o->row->name, "adafactor");
}

/* What update= of the optimizer rounds otherwise than to nearest has fewer bits than float32: weights and, of sr,
   states of another format. */
static int
rounds_updates(const void *of)
{
	const hu_config *c = of;
	const hu_optim_options *o = &c->optim;
	int states = o->state && hu_format_of((hu_format_id)(o->state - 1)).p < 24;

	return (o->update == HU_RNE && !o->kahan) || hu_format_of(c->policy.variable).p < 24 || (states && !o->kahan);
}

static const hu_opt_need needs[] = { { "all-reduce:divide", is_over_ranks, "where no --all-reduce names ranks" },
	{ "model:flash_sum model:flash_delta", rounds_attention,
		"where attention runs in float32, whose results are not rounded" },
	{ "optimizer:update", rounds_updates,
		"where weights, and of sr moments and averages too, have 24 bits or more" },
	{ "optimizer:state", has_state,
		"where no moment has that format: adam8bit and adam4bit have codes, and sgd none without momentum=" },
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

static const char *
model_of(const hu_config *c)
{
	return c->row->name;
}

static const char *
optimizer_of(const hu_config *c)
{
	return c->optim.row->name;
}

static const char *
schedule_of(const hu_config *c)
{
	return hu_schedule_at((int)c->optim.schedule.rule)->name;
}

static const char *
scaler_of(const hu_config *c)
{
	return c->scaling.rule.name;
}

static const char *
loss_of(const hu_config *c)
{
	return hu_loss_find(c->loss)->name;
}

/* The name before the settings of --data; NULL where no data set has it. */
static const char *
dataset_of(const hu_config *c)
{
	size_t n = strcspn(c->data, ":");
	const char *name;

	for (size_t i = 0; (name = hu_dataset_name(i)); i++)
		if (!strncmp(name, c->data, n) && !name[n])
			return name;
	return NULL;
}

static const char *
backend_of(const hu_config *c)
{
	return c->backend;
}

/* What comes in kinds: the option that chooses a row, the rows with the keys that each reads, and the row that a
   training has. */
static const struct kind {
	const char *option;
	hu_opt_reader (*at)(int i);
	const char *(*chosen)(const hu_config *c);
} kinds[] = { { "model", model, model_of }, { "optimizer", optimizer, optimizer_of },
	{ "schedule", schedule, schedule_of }, { "loss-scale", scaler, scaler_of }, { "loss", loss, loss_of },
	{ "data", dataset, dataset_of }, { "backend", backend, backend_of } };

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
unread(const struct kind *k, const hu_config *c, const char *option)
{
	const char *chosen = k->chosen(c);
	size_t n = strlen(k->option);
	int own = !strncmp(option, k->option, n) && option[n] == ':';
	char kind[32];

	if (!chosen || (!own && k->at != model && k->at != backend))
		return NULL;
	snprintf(kind, sizeof kind, "--%s", k->option);
	return hu_unread(kind, k->at, chosen, own ? option + n + 1 : option);
}

char *
hu_config_idle(const hu_config *c, const char *option)
{
	const char *why = hu_unmet(needs, c, option);
	char *how = why ? hu_xstrdup(why) : NULL;

	for (int i = 0; !how && i < KINDS; i++)
		how = unread(&kinds[i], c, option);
	return how;
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
