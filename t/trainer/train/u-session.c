/* SPDX-License-Identifier: Apache-2.0
   A training session: an epoch's order is a permutation that seed and epoch alone decide,
   evaluation pads without changing a number, its measures are recounted here, and a
   back end without `peek` sees the same. */
#include "lib/base/hash.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"
#include "trainer/run/session.h"
#include "trainer/ranked/session_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN = 50, EVAL = 46 };

static void
open_session(hu_session *s, hu_config *c, size_t batch, uint64_t seed)
{
	hu_dataset_options o = { .size = 10, .train = TRAIN, .eval = EVAL, .seed = 3 };
	hu_dataset d;

	memset(c, 0, sizeof *c);
	c->width = 0.1;
	c->loss_weight = c->scaling.loss_weight = 1;
	c->batch = batch;
	c->epochs = 2;
	c->seed = seed;
	c->backend = strdup("cpu");
	c->optim.lr = 0.1;
	if (hu_model_find("mlp", &c->row) || hu_policy_parse("mixed_float16", &c->policy) ||
		hu_scaler_find("pytorch", &c->scaling.rule) || hu_optim_find("sgd", &c->optim.row) ||
		hu_dataset_open(&d, "digits", &o) || hu_session_open(s, c, &d) || hu_session_start(s))
		bail_out("%s", hu_reason());
}

static void
close_session(hu_session *s, hu_config *c)
{
	hu_session_close(s);
	free(c->backend);
}

static void
step(hu_session *s, size_t k, uint64_t *digest)
{
	if (hu_session_step(s, k) || hu_session_commit(s, digest))
		bail_out("%s", hu_reason());
}

static void
test_order(void)
{
	hu_config c;
	hu_session s;
	size_t first[TRAIN], want[TRAIN];
	int seen[TRAIN] = { 0 }, each = 1, same = 1;
	uint64_t digest;

	open_session(&s, &c, 8, 11);
	is_int((long long)s.steps_per_epoch, TRAIN / 8, "the last partial batch is dropped");
	step(&s, 0, &digest);
	memcpy(first, s.order, sizeof first);
	for (size_t i = 0; i < TRAIN; i++)
		seen[first[i]]++;
	for (size_t i = 0; i < TRAIN; i++)
		each &= seen[i] == 1;
	ok(each, "an epoch's order has every image once");
	for (size_t i = 0; i < TRAIN; i++)
		want[i] = i;
	for (size_t i = TRAIN - 1; i > 0; i--) { /* as doc/formats.md says it */
		size_t j = (size_t)floor(hu_uniform(hu_random_at(11, hu_fnv1a32("shuffle"), 0, i)) * (double)(i + 1)),
		       t = want[i];
		want[i] = want[j];
		want[j] = t;
	}
	ok(!memcmp(want, first, sizeof want), "and is the documented shuffle");
	step(&s, s.steps_per_epoch, &digest);
	for (size_t i = 0; i < TRAIN; i++)
		same &= s.order[i] == first[i];
	ok(!same, "the next epoch has another");
	close_session(&s, &c);
}

static void
test_evaluation(void)
{
	hu_config c, d;
	hu_session s, r;
	hu_evaluation a, b;
	size_t right = 0, hit[10] = { 0 }, said[10] = { 0 }, is[10] = { 0 };
	double precision = 0, recall = 0;
	hu_tensor p;
	uint64_t digest;

	open_session(&s, &c, EVAL, 11);
	open_session(&r, &d, 8, 11);
	if (hu_session_evaluate(&s, &a) || hu_session_evaluate(&r, &b))
		bail_out("%s", hu_reason());
	ok(a.accuracy == b.accuracy && a.precision == b.precision && a.recall == b.recall,
		"46 images evaluate in one batch as in six padded ones (accuracy %g, precision %g)", a.accuracy,
		a.precision);
	/* Means of fp32 losses, each a tree of at most 46 terms: 6 additions deep, and a few roundings beside. */
	is_near(a.loss, b.loss, 16 * 0x1p-24 * a.loss, "to the same loss");
	if (hu_session_read_from(&s, s.eval, s.programs.eval, s.eval_id.p, &p))
		bail_out("%s", hu_reason());
	const unsigned char *labels = hu_dataset_find(&s.data, "labels")->values;
	for (size_t i = 0; i < EVAL; i++) {
		size_t best = 0, label = labels[s.data.n_train + i];
		for (size_t j = 1; j < 10; j++)
			best = hu_get(&p, i * 10 + j) > hu_get(&p, i * 10 + best) ? j : best;
		right += best == label;
		hit[label] += best == label;
		said[best]++;
		is[label]++;
	}
	for (int k = 0; k < 10; k++) {
		precision += said[k] ? (double)hit[k] / (double)said[k] / 10 : 0;
		recall += is[k] ? (double)hit[k] / (double)is[k] / 10 : 0;
	}
	is_near(a.accuracy, (double)right / EVAL, 0, "accuracy recounted");
	is_near(a.precision, precision, 1e-15, "macro precision recounted");
	is_near(a.recall, recall, 1e-15, "macro recall recounted");
	double before = b.loss;
	step(&r, 0, &digest);
	if (hu_session_evaluate(&r, &b))
		bail_out("%s", hu_reason());
	ok(b.loss != before, "evaluation sees the weights that a step moved");
	close_session(&s, &c);
	close_session(&r, &d);
}

/* As on a device, where host memory has no tensors. */
static void
test_no_peek(void)
{
	hu_config c, d;
	hu_session s, r;
	hu_evaluation a, b;
	uint64_t x, y;

	open_session(&s, &c, 8, 12);
	open_session(&r, &d, 8, 12);
	hu_backend blind = *r.backend;
	blind.peek = NULL;
	r.backend = &blind;
	for (size_t k = 0; k < 3; k++) {
		step(&s, k, &x);
		step(&r, k, &y);
		is_bits64(y, x, "step %zu has the same digest without peek", k);
	}
	double p, q;
	if (hu_session_evaluate(&s, &a) || hu_session_evaluate(&r, &b) || hu_session_accuracy(&s, &p) ||
		hu_session_accuracy(&r, &q))
		bail_out("%s", hu_reason());
	ok(a.loss == b.loss && a.recall == b.recall && p == q, "and the same measures");
	close_session(&s, &c);
	close_session(&r, &d);
}

static void
test_argmax(void)
{
	float v[] = { NAN, NAN, NAN, 0.25f, 0.5f, 0.5f, NAN, 0.1f, 0.2f };
	hu_tensor t = { .format = HU_FP32, .shape = hu_shape2(3, 3), .n = 9, .data = v };

	is_int((long long)hu_argmax(&t, 0, 3), 3, "a row of NaN has no largest element");
	is_int((long long)hu_argmax(&t, 1, 3), 1, "the first of equals");
	is_int((long long)hu_argmax(&t, 2, 3), 2, "NaN is never the largest");
}

int
main(void)
{
	test_order();
	test_evaluation();
	test_no_peek();
	test_argmax();
	return done_testing();
}
