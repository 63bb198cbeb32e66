/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/train/exercise.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/number/format.h"
#include "lib/store/run.h"
#include "trainer/train/loop.h"
#include "trainer/ranked/session_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Halving from 2^28, or from 2^24 times 2 overflows each of a rule with hysteresis, ends below 2^10 within 48 steps;
   from 2^120 doubling every second step overflows fp32 within 16. */
enum { STEPS = 48, INTERVAL = 2, ABOVE = 13, LARGEST = 120 };

hu_status
hu_exercise_possible(const hu_config *c)
{
	if (strcmp(c->scaling.rule.name, "none"))
		return HU_OK;
	return hu_refuse(
		"exercise", "without a loss scale, since no step is ever skipped then (--loss-scale sets one)");
}

/* The run's configuration as its manifest has it, and what the exercise changes. */
static json_t *
described(const json_t *manifest, const hu_config *c)
{
	json_t *config = json_deep_copy(json_object_get(manifest, "config"));
	double largest = ldexp(1, (int)fmin(LARGEST, hu_format_of(c->policy.compute).emax + ABOVE)),
	       cap = c->scaling.rule.cap;

	json_object_set_new(config, "steps", json_integer(STEPS));
	json_object_set_new(config, "init-scale", json_real(cap > 0 && cap < largest ? cap : largest));
	json_object_set_new(config, "growth-interval", json_real(INTERVAL));
	json_object_set_new(config, "trace-steps", json_string("none"));
	json_object_del(config, "checkpoint-every");
	json_object_del(config, "count");
	return json_pack("{s:o s:O}", "config", config, "policy", json_object_get(manifest, "policy"));
}

/* One run, from the first step to the last. */
static hu_status
train(hu_config *c, const char *dir)
{
	hu_dataset data;
	hu_session s;
	hu_record r;
	hu_metrics m;
	hu_metrics_row last;
	hu_account energy;

	HU_TRY(hu_config_dataset(c, 0, &data));
	HU_TRY(hu_session_open(&s, c, &data));
	hu_status st = hu_record_init(&r, dir, &s);
	if (st != HU_OK) {
		hu_session_close(&s);
		return st;
	}
	json_t *command = json_pack("[s, s, s]", "halfulp", "train", "--exercise");
	memset(&energy, 0, sizeof energy);
	hu_metrics_init(&m, c);
	st = hu_session_start(&s);
	if (st == HU_OK)
		st = hu_record_begin(&r, &s, command);
	if (st == HU_OK)
		st = hu_account_open(&energy, "none", c->backend, -1);
	if (st == HU_OK)
		st = hu_loop_run(&s, &r, &m, 0, 0, &energy, &last);
	if (st == HU_OK)
		st = hu_record_finish(&r, s.steps);
	hu_account_close(&energy);
	hu_metrics_release(&m);
	hu_record_release(&r);
	hu_session_close(&s);
	json_decref(command);
	return st;
}

/* 1 where a finished exercise is in dir. One that a killed process began is removed, so that it is made anew; what has
   no manifest yet is removed by the training that begins. */
static int
is_there(const char *dir)
{
	hu_run r;

	if (hu_run_open(&r, dir) != HU_OK)
		return 0;
	int finished = hu_run_finished(&r) == HU_OK;
	hu_run_release(&r);
	if (!finished)
		hu_remove_all(dir);
	return finished;
}

hu_status
hu_exercise_run(const json_t *manifest, const char *dir)
{
	char *path = hu_path(dir, "exercise");
	hu_config own, c;
	hu_status st = HU_OK;

	if (!is_there(path) && (st = hu_config_from_json(&own, manifest)) == HU_OK) {
		json_t *j = described(manifest, &own);
		st = hu_exercise_possible(&own);
		if (st == HU_OK && (st = hu_config_from_json(&c, j)) == HU_OK) {
			st = train(&c, path);
			hu_config_release(&c);
		}
		json_decref(j);
		hu_config_release(&own);
	}
	free(path);
	return st;
}
