/* SPDX-License-Identifier: Apache-2.0
   What ranks other than 0 do in a shared training, from its beginning to its end, and which of them share a device. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/program/spread/spread.h"
#include "lib/store/run_check.h"
#include "trainer/ranked/orders.h"
#include "trainer/record/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_ranked_possible(const hu_config *c)
{
	int ranks = hu_ranks_size();

	if (ranks == 1)
		return HU_OK;
	if (!c->micro_batches || c->micro_batches < (size_t)ranks)
		return hu_fail(HU_EINVAL,
			"--micro-batches %zu: each of the %d ranks executes whole micro-batches, so that at least %d "
			"are needed",
			c->micro_batches ? c->micro_batches : 1, ranks, ranks);
	return HU_OK;
}

/* Returns how many of the ranks from i on are on the device of rank i. */
static int
on_the_device_of(const hu_ranked_share *all, int i)
{
	int n = 0;

	for (int k = i; k < hu_ranks_size(); k++)
		n += !strcmp(all[k].host, all[i].host) && !strcmp(all[k].device, all[i].device);
	return n;
}

void
hu_ranked_say(const hu_session *s, int talk)
{
	int most = 0;

	if (hu_ranks_size() == 1 || s->backend->peek)
		return;
	hu_ranked_share own = hu_ranked_did(s->train),
			*all = hu_xcalloc((size_t)hu_ranks_size(), sizeof *all);
	hu_ranks_gather(0, &own, sizeof own, all);
	for (int i = 1; i < hu_ranks_size() && !hu_ranks_rank(); i++)
		if (on_the_device_of(all, i) > on_the_device_of(all, most))
			most = i;
	int n = on_the_device_of(all, most);
	if (talk && n > 1)
		printf("Devices: %d ranks share one, %s of %s\n", n, all[most].device, all[most].host);
	fflush(stdout);
	free(all);
}

/* The loop of a rank other than 0. A failure here is this rank's own: hu_complain says it and ends all. */
static hu_status
obey(hu_session *s)
{
	for (;;) {
		hu_ranked_order o = hu_ranked_order_next(HU_RANKED_END, 0);
		uint64_t digest;
		switch (o.kind) {
		case HU_RANKED_STEP: HU_TRY(hu_session_step(s, (size_t)o.number)); break;
		case HU_RANKED_COMMIT: HU_TRY(hu_session_commit(s, &digest)); break;
		case HU_RANKED_ROWS: HU_TRY(hu_ranked_answer_rows(s)); break;
		case HU_RANKED_READ: HU_TRY(hu_ranked_answer(s->train, (int)o.number)); break;
		default: return HU_OK;
		}
	}
}

hu_status
hu_ranked_follow(hu_session *s)
{
	HU_TRY(obey(s));
	hu_ranked_share row = hu_ranked_did(s->train);
	hu_ranks_gather(0, &row, sizeof row, NULL);
	return HU_OK;
}

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
