/* SPDX-License-Identifier: Apache-2.0
   What is said of a machine's GPU: each reason not to use one, and none where it can be used. */
#include "cuda/device/usable.h"
#include "t/tool/tap.h"

#include <string.h>

static const struct row { const char *what; hu_device_facts f; const char *says;
} rows[] = {
	{ "a GPU that works", { 13000, 13000, 1, NULL, "NVIDIA A100", 8, 0, 1 }, "" },
	{ "a newer driver", { 14010, 13000, 2, NULL, "NVIDIA H200", 9, 0, 1 }, "" },
	{ "an older driver of the same major version", { 13000, 13020, 1, NULL, "NVIDIA T4", 7, 5, 1 }, "" },
	{ "no driver", { 0, 13000, 0, "CUDA driver version is insufficient for CUDA runtime version", "", 0, 0, 0 },
		"no NVIDIA driver is loaded" },
	{ "an old driver",
		{ 12040, 13000, 0, "CUDA driver version is insufficient for CUDA runtime version", "", 0, 0, 0 },
		"the driver knows CUDA 12.4 and this build was made with 13.0: update the driver to 580 or newer" },
	{ "an old driver, a runtime of the future", { 13010, 15030, 0, "whatever", "", 0, 0, 0 },
		"the driver knows CUDA 13.1 and this build was made with 15.3: update the driver" },
	{ "no GPU", { 13000, 13000, 0, NULL, "", 0, 0, 0 }, "the driver shows no GPU" },
	{ "the runtime's own words", { 13000, 13000, 0, "no CUDA-capable device is detected", "", 0, 0, 0 },
		"the driver says: no CUDA-capable device is detected" },
	{ "an old GPU", { 12020, 12020, 1, NULL, "Tesla V100", 7, 0, 1 },
		"Tesla V100 has compute capability 7.0, and kernels need 7.5 or newer" },
	{ "a GPU that this build is not for", { 13000, 13000, 1, NULL, "NVIDIA T4", 7, 5, 0 },
		"no kernels for compute capability 7.5 of NVIDIA T4: configure with CUDA_ARCH_FLAGS='-gencode "
		"arch=compute_75,code=sm_75'" },
};

int
main(void)
{
	char why[256], small[8];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int usable = hu_device_usable(&rows[i].f, why, sizeof why);
		ok(usable == !*rows[i].says && (*rows[i].says ? strstr(why, rows[i].says) != NULL : !*why) &&
				!strchr(why, '\n'),
			"%s: %s", rows[i].what, *why ? why : "usable");
	}
	memset(small, 1, sizeof small);
	hu_device_usable(&rows[4].f, small, sizeof small);
	ok(memchr(small, 0, sizeof small) != NULL, "a short buffer is not run over");
	return done_testing();
}
