/* SPDX-License-Identifier: Apache-2.0
   turns OPTION...: a training that takes steps when it is told to, so that another program's steps can take turns with
   it (bench/torch-steps.py). The options are train's that make a model. Each line of standard input is a number of
   steps; for each step, as training takes it, standard output gets a line: milliseconds of wall clock, of all threads'
   processor time, and the loss. */
#include "trainer/ranked/session_open.h"
#include "trainer/run/session.h"

#include "cuda/exec/backend.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const hu_opt opts[] = {
#include "trainer/run/options_model.def"
	{ "policy", "P", "float32", "a preset, key=value list, or JSON file: which formats are used where" },
#include "trainer/run/options_run.def"
	{ "seed", "N", "1", "seed of initial weights, shuffling and stochastic rounding" }, { NULL, NULL, NULL, NULL }
};

static double
processor(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static hu_status
steps(hu_session *s)
{
	char line[64];
	size_t at = 0;

	HU_TRY(hu_session_start(s));
	while (fgets(line, sizeof line, stdin)) {
		for (long n = strtol(line, NULL, 10); n > 0; n--, at++) {
			double start = hu_now(), used = processor(), loss;
			HU_TRY(hu_session_step(s, at));
			HU_TRY(s->backend->commit(s->train));
			HU_TRY(hu_session_scalar(s, s->id.loss, &loss));
			printf("%.4f\t%.4f\t%.9g\n", 1e3 * (hu_now() - start), 1e3 * (processor() - used), loss);
		}
		fflush(stdout);
	}
	return HU_OK;
}

static hu_status
train(const hu_args *a)
{
	hu_config config;
	hu_dataset data;
	hu_session session;

	HU_TRY(hu_config_from_args(&config, a, hu_args_text(a, "policy")));
	hu_status st = hu_config_dataset(&config, 0, &data);
	if (st == HU_OK)
		st = hu_session_open(&session, &config, &data);
	if (st == HU_OK) {
		st = steps(&session);
		hu_session_close(&session);
	}
	hu_config_release(&config);
	return st;
}

int
main(int argc, char **argv)
{
	hu_args a;

	hu_threads_settle(argv);
	hu_backend_register(&hu_backend_cuda);
	hu_backend_register(&hu_backend_shim);
	hu_status st = hu_args_parse(&a, opts, argc, argv);

	if (st == HU_OK) {
		st = train(&a);
		hu_args_release(&a);
	}
	if (st != HU_OK)
		fprintf(stderr, "turns: %s\n", hu_reason());
	return st == HU_OK ? 0 : 2;
}
