/* SPDX-License-Identifier: Apache-2.0
   What a shared training says of its ranks in the run. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/tsv.h"
#include "lib/program/spread/part.h"
#include "trainer/ranked/orders.h"

#include <stdlib.h>

hu_status
hu_ranked_end(const hu_session *s, const char *dir)
{
	hu_ranked_share own, *all;
	hu_tsv t;

	if (hu_ranks_size() == 1)
		return HU_OK;
	hu_ranked_order_next(HU_RANKED_END, 0);
	own = hu_ranked_did(s->train);
	all = hu_xcalloc((size_t)hu_ranks_size(), sizeof *all);
	hu_ranks_gather(0, &own, sizeof own, all);
	hu_tsv_init(&t);
	hu_tsv_header(&t, "rank host micro_batches rows steps ms ms_messages bytes_sent bytes_received memory device");
	for (int r = 0; r < hu_ranks_size(); r++) {
		const hu_ranked_share *q = &all[r];
		double steps = q->steps > 0 ? q->steps : 1,
		       column[] = { q->seconds * 1e3 / steps, q->waited * 1e3 / steps, q->sent / steps,
			       q->received / steps };
		hu_tsv_int(&t, r);
		hu_tsv_text(&t, q->host);
		hu_tsv_int(&t, (long long)q->micro_batches);
		hu_tsv_int(&t, (long long)q->rows);
		hu_tsv_int(&t, (long long)q->steps);
		for (int k = 0; k < 4; k++)
			hu_tsv_real(&t, column[k]);
		hu_tsv_real(&t, q->bytes);
		hu_tsv_text(&t, q->device);
	}
	free(all);
	if (!dir) {
		hu_tsv_release(&t);
		return HU_OK;
	}
	char *path = hu_path(dir, "ranks.tsv");
	hu_status st = hu_tsv_write(&t, path);
	free(path);
	return st;
}

json_t *
hu_ranked_json(const hu_session *s)
{
	int n = hu_ranks_size(), carried = 0, first;

	if (n == 1)
		return NULL;
	json_t *j, *share = json_array();
	const hu_program *p = s->programs.train;
	int all = (int)s->config->micro_batches;
	for (int r = 0; r < n; r++)
		json_array_append_new(share, json_integer(hu_spread_share(all, n, r, &first)));
	j = json_pack("{s:i s:s s:i s:o}", "number", n, "mpi", hu_ranks_library(), "on_first_host", hu_ranks_local(),
		"micro_batches", share);
	if (s->config->over_ranks.library)
		json_object_set_new(j, "all_reduce",
			json_pack("{s:s s:s s:s}", "library", s->backend->part->library(0), "NCCL_ALGO",
				s->backend->part->library(1), "NCCL_PROTO", s->backend->part->library(2)));
	for (int i = 0; i < p->nc; i++)
		carried |= p->c[i].op->carried;
	if (carried)
		json_object_set_new(j, "batchnorm", json_string("statistics of each micro-batch"));
	return j;
}
