/* SPDX-License-Identifier: Apache-2.0
   ZeRO's stages: the published memory of a model with 7.5e9 parameters over 64 and 1024 ranks, and its traffic. */
#include "trainer/plan/ranks.h"

#include "lib/number/format.h"
#include "t/tool/tap.h"

#include <math.h>

/* Rajbhandari and others, SC 2020, figure 1 and table 1: GB a rank of parameters, gradients and optimizer states in
   mixed precision with Adam, where 2 + 2 + 12 bytes belong to each parameter. */
static const struct { size_t n; double gb[HU_ZERO_STAGES]; } published[] = {
	{ 1, { 120, 120, 120, 120 } },
	{ 4, { 120, 52.5, 41.3, 30 } },
	{ 64, { 120, 31.4, 16.6, 1.88 } },
	{ 1024, { 120, 30.1, 15.1, 0.12 } },
};

static void
networks(void)
{
	hu_rank_network w;

	ok(hu_rank_network_find("ib_hdr", &w) == HU_OK && w.gb_s == 25, "200 Gbit/s are 25 GB/s");
	ok(hu_rank_network_find("12.5", &w) == HU_OK && w.gb_s == 12.5, "a number is a network");
	ok(hu_rank_network_find("-1", &w) == HU_EINVAL && hu_rank_network_find("0", &w) == HU_EINVAL &&
			hu_rank_network_find("inf", &w) == HU_EINVAL && hu_rank_network_find("nan", &w) == HU_EINVAL &&
			hu_rank_network_find("ib", &w) == HU_EINVAL,
		"no others");
}

int
main(void)
{
	double p = 7.5e9;
	hu_rank_sizes s = { .parameters = p,
		.weights = 2 * p,
		.masters = 4 * p,
		.gradients = 2 * p,
		.moments = 8 * p,
		.wire = 2 * p };

	for (size_t i = 0; i < sizeof published / sizeof *published; i++)
		for (int k = 0; k < HU_ZERO_STAGES; k++) {
			hu_rank_share x = hu_rank_share_of(&s, k, published[i].n);
			double want = published[i].gb[k], unit = want >= 100 ? 1 : want >= 10 ? 0.1 : 0.01;
			ok(fabs(x.all / 1e9 - want) <= 0.5001 * unit, "stage %d over %zu ranks: %.4g GB, published %g",
				k, published[i].n, x.all / 1e9, want);
			/* Section 7: 2 parameters' worth in stages 0 to 2, 3 in stage 3, for many ranks */
			double share = (double)(published[i].n - 1) / (double)published[i].n;
			ok(fabs(x.sent - (k == 3 ? 3 : 2) * 2 * p * share) <= 1e-6 * p,
				"and %.4g bytes sent a parameter", x.sent / p);
		}
	s = (hu_rank_sizes){
		.parameters = 10, .weights = 40, .statistics = 7, .gradients = 40, .moments = 80, .scalars = 3,
		.wire = 20
	};
	hu_rank_share x = hu_rank_share_of(&s, 3, 4);
	ok(x.weights == 12 + 7 && x.gradients == 12 && x.optimizer_state == 24 + 3 && x.sent == 3 * (6 + 12 + 12),
		"parts are padded, statistics and scalars are whole");
	x = hu_rank_share_of(&s, 1, 100);
	ok(x.optimizer_state == 8 + 3 && x.sent == 99 * (2 + 4), "more ranks than parameters: one number each");
	networks();
	return done_testing();
}
