/* SPDX-License-Identifier: Apache-2.0
   What tests set for the shim: the seed of all its random orders, and the loss of its device. */
#include "cuda/shim/shim_engine.h"

static uint64_t seed = 1, launches, luck = 1;
static long fail_after = -1;
static int lost;
static uint32_t processors;

namespace shim {

uint64_t
next_random(void)
{
	return (seed << 20) + ++launches;
}

hu_status
next_launch(const char *kernel)
{
	if (fail_after >= 0 && fail_after-- == 0) {
		fail_after = 0; /* a lost device stays lost */
		lost = 1;
	}
	return hu_shim_present(kernel);
}

} /* namespace shim */

extern "C" {

uint32_t
hu_shim_draw(uint32_t n)
{
	luck = luck * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((luck >> 32) * n >> 32);
}

void
hu_shim_seed(uint64_t s)
{
	seed = s;
	luck = s;
	launches = 0;
}

void
hu_shim_processors(uint32_t n)
{
	processors = n;
}

uint32_t
hu_shim_multiprocessors(void)
{
	return processors ? processors : 132; /* an H100 and an H200 have 132 */
}

void
hu_shim_lose_after(long n)
{
	fail_after = n;
	lost = 0;
}

hu_status
hu_shim_present(const char *what)
{
	return lost ? hu_fail(HU_EDEVICE, "%s: the device was lost (simulated)", what) : HU_OK;
}

/* Reads the environment once; later machines of the process keep what tests set. */
void
hu_shim_environment(void)
{
	static int done;
	const char *s = getenv("HALFULP_SHIM_SEED"), *l = getenv("HALFULP_SHIM_LOSE_AFTER"),
		   *m = getenv("HALFULP_SHIM_MEMORY");

	if (done++)
		return;
	if (s)
		hu_shim_seed(strtoull(s, NULL, 10));
	if (l)
		hu_shim_lose_after(strtol(l, NULL, 10));
	if (m)
		hu_shim_limit(strtoull(m, NULL, 10));
}

} /* extern "C" */
