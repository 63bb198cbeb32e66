/* SPDX-License-Identifier: Apache-2.0
   The third step of a small training, made in memory, for tests of the exact step. */
#ifndef HU_T_JUDGE_SMALL_STEP_H
#define HU_T_JUDGE_SMALL_STEP_H

#include "t/tool/tap.h"
#include "trainer/model/loss/layer_loss.h"
#include "trainer/ranked/session_open.h"
#include "trainer/run/session.h"

#include <stdlib.h>
#include <string.h>

/* Step 3 of a small training: its program and every tensor. */
typedef struct step {
	hu_session s;
	hu_config c;
	hu_tensor *t;
	const hu_program *p;
} step;

/* A convolution whose bias the batchnorm after it takes away again: the bias's gradient is 0 in exact arithmetic, and a
   sum of roundings in any other. */
static inline void
build_biased(hu_program *p, const hu_model_sizes *s, int eval)
{
	int x = hu_layer_batchnorm(p, 1, hu_layer_conv(p, 1, hu_layer_input(p, s, "x"), 3, 2, 4), eval);

	int logits = hu_layer_dense(p, 1, hu_layer_pool(p, hu_layer_relu(p, 1, x)), hu_layer_classes(s, "labels"));
	hu_layer_loss(p, s, logits, "labels");
}

static const hu_model biased = { "biased", "a bias before batchnorm", "adamw", "x[n,h,w,c] labels[n]:class", "", 1e-3,
	8, build_biased };

static inline void
make(step *x, const char *model, const char *policy, double lr)
{
	hu_dataset_options o = { .size = 8, .train = 40, .eval = 8, .seed = 3 };
	hu_dataset d;
	uint64_t digest;

	memset(x, 0, sizeof *x);
	hu_config *c = &x->c;
	c->width = strcmp(model, "mlp") ? 0.0625 : 0.1;
	c->loss_weight = c->scaling.loss_weight = 1;
	c->batch = 8;
	c->epochs = 1;
	c->seed = 5;
	c->backend = strdup("cpu");
	c->optim.lr = lr;
	c->optim.weight_decay = 0.01;
	c->optim.beta1 = 0.9;
	c->optim.beta2 = 0.999;
	c->optim.eps = 1e-7;
	c->row = &biased;
	if ((strcmp(model, biased.name) && hu_model_find(model, &c->row)) || hu_policy_parse(policy, &c->policy) ||
		hu_scaler_find("pytorch", &c->scaling.rule) || hu_optim_find("adamw", &c->optim.row) ||
		hu_dataset_open(&d, "digits", &o) || hu_session_open(&x->s, c, &d) || hu_session_start(&x->s))
		bail_out("%s", hu_reason());
	for (size_t k = 0; k < 3; k++) {
		if (hu_session_step(&x->s, k) || (k < 2 && hu_session_commit(&x->s, &digest)))
			bail_out("%s", hu_reason());
	}
	if (hu_session_copy(&x->s, NULL, &x->t))
		bail_out("%s", hu_reason());
	x->p = x->s.programs.train;
}

static inline void
unmake(step *x)
{
	hu_session_free_tensors(&x->s, x->t);
	hu_session_close(&x->s);
	free(x->c.backend);
}

#endif
