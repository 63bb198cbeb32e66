/* SPDX-License-Identifier: Apache-2.0
   What the options' values mean: rows of tables, and defaults that depend on other options. */
#include "trainer/run/config.h"

#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/spec.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/str.h"
#include "trainer/model/loss/loss.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options whose value is one of some words. */
static const struct choice {
	const char *name;
	size_t at;
	const char *words;
} choices[] = {
#define OPTION(kind, member, name, min, max, argument, def, help)
#define KEY(kind, member, option, name, min, max, argument, def, help)
#define CHOICE(member, option, name, words, def, help) { option, offsetof(hu_config, member), words },
#include "trainer/model/layer/sizes.def"
#define CHOICE(member, option, name, words, def, help) { option, offsetof(hu_config, member), words },
#define FORM(member, option, name, def, help)
#include "trainer/optim/keys.def"
#undef KEY
#undef OPTION
};

/* Those whose value is a format of single numbers. */
static const struct form {
	const char *name;
	size_t at;
} forms[] = {
#define CHOICE(member, option, name, words, def, help)
#define FORM(member, option, name, def, help) { option, offsetof(hu_config, member) },
#include "trainer/optim/keys.def"
};

static hu_status
settle_scaling(hu_config *c)
{
	const char *word = c->loss_scale ? c->loss_scale : c->policy.dynamic ? "dynamic" : "none";
	hu_scaler *r = &c->scaling.rule;
	double s = 0;

	memset(&c->scaling, 0, sizeof c->scaling);
	c->scaling.loss_weight = c->loss_weight;
	if (!strncmp(word, "static:", 7)) {
		if (!hu_parse_real(word + 7, &s) || !(s >= 0x1p-126 && s <= 0x1p126))
			return hu_fail(HU_EINVAL,
				"--loss-scale %s: a number from 2^-126 to 2^126 must follow the colon", word);
		word = "static";
	}
	if (hu_scaler_find(!strcmp(word, "dynamic") ? "pytorch" : word, r) != HU_OK)
		return hu_fail(HU_EINVAL,
			"--loss-scale %s: dynamic, static:S or one of"
#define SCALER(name, init, growth, backoff, interval, floor, cap, hysteresis, wide, reads) " " #name
#include "lib/op/scalers.def"
#undef SCALER
			" is needed",
			word);
	if (!strcmp(word, "none"))
		return HU_OK;
	if (s > 0)
		r->init = s;
#define TAKE(m, field)                                                                                                 \
	if (!isnan(c->field))                                                                                          \
	r->m = c->field
	TAKE(init, init_scale);
	TAKE(growth, growth);
	TAKE(backoff, backoff);
	TAKE(interval, interval);
	TAKE(floor, floor);
	TAKE(cap, cap);
	TAKE(hysteresis, hysteresis);
#undef TAKE
	if (r->floor != 0 && r->cap != 0 && !(r->floor <= r->cap))
		return hu_fail(HU_EINVAL, "--loss-scale floor=%g is above cap=%g", r->floor, r->cap);
	/* A rule's default limits come from its framework, which allows a first scale outside them. */
	if (!isnan(c->cap) && c->cap != 0 && r->init > c->cap)
		r->init = c->cap;
	if (!isnan(c->floor) && r->init < c->floor)
		r->init = c->floor;
	return HU_OK;
}

double
hu_config_first_scale(const hu_config *c)
{
	return c->scaling.rule.init;
}

hu_optim_options
hu_config_optim(const hu_config *c)
{
	hu_optim_options o = c->optim;

	int casts = o.casting ? o.casting == 2 : c->policy.casts_constants;
	o.constants = casts ? c->policy.variable : HU_FP64;
	return o;
}

/* Makes a path absolute, since a later command may follow it from another folder. */
static void
absolute(char **path, size_t prefix)
{
	char full[PATH_MAX];

	if (!*path || !realpath(*path + prefix, full))
		return;
	char *s = hu_xprintf("%.*s%s", (int)prefix, *path, full);
	free(*path);
	*path = s;
}

int
hu_config_on(const char *word)
{
	return !word || !strcmp(word, "on");
}

static hu_status
on_or_off(const char *option, const char *word)
{
	return hu_config_on(word) || !strcmp(word, "off")
		       ? HU_OK
		       : hu_fail(HU_EINVAL, "--%s %s: on or off is needed", option, word);
}

/* Words are lower case, and may be given in any. */
static void
lower(char *word, const char *words)
{
	char *small = word ? hu_xstrdup(word) : NULL;

	for (char *s = small; s && *s; s++)
		*s = (char)tolower((unsigned char)*s);
	if (word && hu_word_in(words, small))
		strcpy(word, small);
	free(small);
}

static hu_status
choose(hu_config *c)
{
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
		char *word = *(char **)((char *)c + choices[i].at);
		lower(word, choices[i].words);
		if (word && !hu_word_in(choices[i].words, word)) {
			hu_str row;
			hu_str_init(&row);
			hu_spec_say(&row, choices[i].name);
			hu_fail(HU_EINVAL, "%s%s%s: one of %s is needed", row.s, strchr(row.s, '=') ? "" : " ", word,
				choices[i].words + strspn(choices[i].words, " "));
			hu_str_release(&row);
			return HU_EINVAL;
		}
	}
	return HU_OK;
}

static hu_status
check_forms(hu_config *c)
{
	hu_format_id f;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const char *word = *(char **)((char *)c + forms[i].at);
		if (!word || hu_format_find(word, &f) == HU_OK)
			continue;
		char *why = hu_xstrdup(hu_reason());
		hu_str row;
		hu_str_init(&row);
		hu_spec_say(&row, forms[i].name);
		hu_fail(HU_EINVAL, "%s%s: %s", row.s, word, why);
		hu_str_release(&row);
		free(why);
		return HU_EINVAL;
	}
	return HU_OK;
}

/* 1 + the format of a word that check_forms has seen, or 0. */
static int
form_of(const char *word)
{
	hu_format_id f;

	return word && hu_format_find(word, &f) == HU_OK ? 1 + (int)f : 0;
}

static void
settle_optimizer(hu_config *c)
{
	hu_optim_options *o = &c->optim;

	o->state = form_of(c->state);
	o->iterate = form_of(c->iterate);
	o->update = c->update && !strcmp(c->update, "sr") ? HU_SR : HU_RNE;
	o->kahan = c->update && !strcmp(c->update, "kahan");
	o->casting = !c->constants ? 0 : !strcmp(c->constants, "variable") ? 2 : 1;
}

static hu_status
settle_schedule(hu_config *c)
{
	hu_lr_schedule *s = &c->optim.schedule;

	*s = (hu_lr_schedule){ .lr = c->lr,
		.lr_end = isnan(c->lr_end) ? 0 : c->lr_end,
		.decay_rate = isnan(c->decay_rate) ? 0.1 : c->decay_rate,
		.warmup = (double)c->warmup,
		.decay_steps = (double)c->decay_steps };
	return hu_schedule_find(c->schedule ? c->schedule : "constant", &s->rule);
}

/* Two views need a model that reads what --augment changes, and something that makes them differ. Commands without
   epochs tell sizes or times, which are the same for equal views. */
static hu_status
check_views(const hu_config *c)
{
	const hu_loss_row *loss = hu_loss_find(c->loss);

	if (loss->views < 2 || !hu_word_in(c->row->options, "loss"))
		return HU_OK;
	if (!hu_word_in(c->row->options, "loss:temperature"))
		return hu_fail(HU_EINVAL,
			"--loss %s: of what model %s reads no two views are made; choose --model mlp, convnet, "
			"resnet or resnet1d",
			loss->name, c->row->name);
	if (c->epochs && !hu_augment_any(&c->augmentation) && !(c->dropout > 0))
		return hu_fail(HU_EINVAL,
			"--loss %s: the two views of a sample would be the same; --augment or --model dropout= makes "
			"them differ",
			loss->name);
	return HU_OK;
}

/* Each rank has a micro-batch or more. */
static hu_status
settle_over_ranks(hu_config *c)
{
	hu_all_reduce *r = &c->over_ranks;
	size_t parts = c->micro_batches ? c->micro_batches : 1;
	const char *when = c->all_reduce_divide ? c->all_reduce_divide : "before";

	if (c->all_reduce && *c->all_reduce == ':') { /* keys alone are of the tree */
		char *own = hu_xprintf("tree%s", c->all_reduce);
		free(c->all_reduce);
		c->all_reduce = own;
	}
	if (hu_all_reduce_parse(c->all_reduce ? c->all_reduce : "tree", hu_ranks_size(), r) != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		hu_fail(HU_EINVAL, "--all-reduce %s: %s", c->all_reduce, why);
		free(why);
		return HU_EINVAL;
	}
	if (r->library) { /* a manifest says for how many */
		free(c->all_reduce);
		c->all_reduce = hu_xmalloc(24);
		snprintf(c->all_reduce, 24, "nccl:%d", r->ranks);
	}
	if ((size_t)r->ranks > parts)
		return hu_fail(HU_EINVAL,
			"--all-reduce %s: of %zu micro-batch%s %d ranks cannot have one each; say --batch micro=%d "
			"or more",
			c->all_reduce, parts, parts == 1 ? "" : "es", r->ranks, r->ranks);
	if (strcmp(when, "before") && strcmp(when, "after"))
		return hu_fail(HU_EINVAL, "--all-reduce divide=%s: before or after is needed", when);
	r->after = !strcmp(when, "after");
	return HU_OK;
}

hu_status
hu_config_settle(hu_config *c)
{
	hu_sum sum;
	double index;

	HU_TRY(choose(c));
	HU_TRY(check_forms(c));
	HU_TRY(on_or_off("fuse", c->fuse));
	HU_TRY(on_or_off("graph", c->graph));
	HU_TRY(hu_model_find(c->model, &c->row));
	if (!c->data) {
		const char *data = hu_input_default(c->row->inputs);
		if (!data)
			return hu_fail(HU_EINVAL,
				"--model %s: no generated data has what it reads, %s; name a file with --data",
				c->row->name, c->row->inputs);
		c->data = hu_xstrdup(data);
	}
	if (!c->optimizer)
		c->optimizer = hu_xstrdup(c->row->optimizer);
	HU_TRY(hu_optim_find(c->optimizer, &c->optim.row));
	settle_optimizer(c);
	if (isnan(c->lr))
		c->lr = strcmp(c->optim.row->name, c->row->optimizer) ? c->optim.row->lr : c->row->lr;
	if (isnan(c->momentum))
		c->momentum = c->optim.row->momentum;
	if (isnan(c->weight_decay))
		c->weight_decay = c->optim.row->weight_decay;
	if (!c->batch)
		c->batch = c->row->batch;
	if (c->micro_batches && c->batch % c->micro_batches)
		return hu_fail(HU_EINVAL,
			"--batch micro=%zu: a batch of %zu has no such number of equal parts; choose --batch",
			c->micro_batches, c->batch);
	HU_TRY(settle_over_ranks(c));
	c->optim.lr = c->lr;
	HU_TRY(settle_schedule(c));
	c->optim.momentum = c->momentum;
	c->optim.weight_decay = c->weight_decay;
	c->optim.beta1 = c->beta1;
	c->optim.beta2 = c->beta2;
	c->optim.eps = c->eps;
	c->optim.clip_norm = isnan(c->clip_norm) ? 0 : c->clip_norm;
	c->optim.clip_value = isnan(c->clip_value) ? 0 : c->clip_value;
	c->optim.no_decay = c->no_decay;
	if (c->optim.clip_norm > 0 && c->optim.clip_value > 0)
		return hu_fail(HU_EINVAL,
			"--optimizer clip_value=%g: gradients are clipped by value or by norm; leave out clip_norm",
			c->clip_value);
	c->optim.ema = isnan(c->ema) ? 0 : c->ema;
	if (c->ignore_index && !(hu_parse_real(c->ignore_index, &index) && index >= 0 && index == floor(index)))
		return hu_fail(
			HU_EINVAL, "--loss ignore_index=%s: a label is a whole number from 0 on", c->ignore_index);
	HU_TRY(hu_augment_parse(&c->augmentation, c->augment));
	HU_TRY(check_views(c));
	if (c->accumulate)
		HU_TRY(hu_sum_parse(c->accumulate, &sum));
	if (c->reductions)
		HU_TRY(hu_sum_parse(c->reductions, &sum));
	if (c->data && hu_dataset_path(c->data))
		absolute(&c->data, hu_dataset_path(c->data));
	absolute(&c->init, 0);
	absolute(&c->word_pieces, 0);
	return settle_scaling(c);
}

hu_status
hu_config_set_policy(hu_config *c, const char *policy)
{
	free(c->policy_text);
	c->policy_text = hu_xstrdup(policy);
	HU_TRY(hu_policy_parse(policy, &c->policy));
	return settle_scaling(c);
}
