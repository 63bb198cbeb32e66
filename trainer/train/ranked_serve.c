/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/train/ranked_serve.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/program/spread/spread.h"
#include "lib/store/run_check.h"
#include "trainer/ranked/ranked.h"
#include "trainer/ranked/session_open.h"
#include "trainer/record/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hu_status
restore(hu_session *s, const char *dir)
{
	size_t *steps;
	int n;
	HU_TRY(hu_run_list_steps(dir, "checkpoint", &steps, &n));
	size_t last = n ? steps[n - 1] : 0;

	free(steps);
	return n ? hu_session_load(s, dir, last) : hu_session_start(s);
}

/* Compares the newest checkpoint with the manifest: of the files that only rank 0 compares it is the one that this rank
   reads. */
static hu_status
check_checkpoint(const hu_run *run)
{
	size_t *steps;
	int n;
	HU_TRY(hu_run_list_steps(run->dir, "checkpoint", &steps, &n));
	char *name = n ? hu_xprintf("checkpoint/step-%06zu.safetensors", steps[n - 1]) : NULL;
	hu_status st = n ? hu_run_check_file(run, name) : HU_OK;

	free(steps);
	free(name);
	return st;
}

/* Sets the configuration from the options, or from the manifest of the run to be resumed, which rank 0 has locked. */
static hu_status
configure(hu_config *c, const hu_args *a)
{
	hu_run run;

	if (!hu_args_given(a, "resume"))
		HU_TRY(hu_config_from_args(c, a, hu_args_text(a, "policy")));
	else {
		HU_TRY(a->nrest ? HU_OK : hu_fail(HU_EINVAL, "--resume needs the RUN to continue"));
		HU_TRY(hu_run_open_own(&run, a->rest[0], 1));
		hu_status st = check_checkpoint(&run);
		if (st == HU_OK)
			st = hu_config_resumed(c, run.manifest, a);
		if (st == HU_OK)
			st = hu_manifest_recall(run.manifest);
		hu_run_release(&run);
		HU_TRY(st);
	}
	return hu_ranked_possible(c);
}

static hu_status
open_session(hu_session *s, const hu_config *c, const hu_args *a)
{
	hu_dataset data;

	HU_TRY(hu_config_dataset(c, 0, &data));
	HU_TRY(hu_session_open(s, c, &data));
	return hu_args_given(a, "resume") ? restore(s, a->rest[0]) : hu_session_start(s);
}

hu_status
hu_ranked_serve(const hu_args *a)
{
	hu_config c = { .model = NULL };
	hu_session s = { .config = NULL };
	hu_status st = configure(&c, a);

	if (st == HU_OK)
		st = open_session(&s, &c, a);
	st = hu_ranked_agree(&s, st);
	if (st == HU_OK)
		st = hu_ranks_agree(HU_OK); /* rank 0 has begun its record */
	if (st == HU_OK) {
		hu_ranked_say(&s, 0);
		st = hu_ranked_follow(&s);
	}
	hu_session_close(&s);
	hu_config_release(&c);
	return st;
}
