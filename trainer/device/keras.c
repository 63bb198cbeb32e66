/* SPDX-License-Identifier: Apache-2.0
   The sentences of Keras's compatibility check for mixed_float16, word for word (keras 2.x,
   keras/mixed_precision/device_compatibility_check.py), so that those who have seen them in Keras recognise them. */
#include "trainer/device/keras.h"

#include <stdio.h>
#include <string.h>

#define BEGIN "Mixed precision compatibility check (mixed_float16): "
#define END \
	"If you will use compatible GPU(s) not attached to this host, e.g. by running a multi-worker model, you can " \
	"ignore this warning. This message will only be logged once"

/* The least compute capability that Keras calls fast, whatever kernels run. */
enum { KERAS_LEAST = 70 };

static void
describe(const hu_gpu_name *g, char *out, size_t size)
{
	if (g->capability)
		snprintf(out, size, "%s, compute capability %d.%d", g->name, g->capability / 10, g->capability % 10);
	else
		snprintf(out, size, "%s, no compute capability (probably not an Nvidia GPU)", g->name);
}

/* Lists the GPUs that are fast by this limit, then the others; equal ones in a row become one line with their
   number. */
static void
list(hu_str *s, const hu_gpu_name *g, int n)
{
	char line[200], last[200] = "";
	int times = 0;

	for (int k = 0; k <= 2 * n; k++) {
		if (k < 2 * n && (g[k % n].capability >= KERAS_LEAST) != (k < n))
			continue;
		*line = 0;
		if (k < 2 * n)
			describe(&g[k % n], line, sizeof line);
		if (times && !strcmp(line, last)) {
			times++;
			continue;
		}
		if (times > 1)
			hu_str_addf(s, "  %s (x%d)\n", last, times);
		else if (times)
			hu_str_addf(s, "  %s\n", last);
		strcpy(last, line);
		times = 1;
	}
}

void
hu_keras_check(hu_str *s, const hu_gpu_name *g, int n)
{
	char one[200];
	int fast = 0;

	for (int i = 0; i < n; i++)
		fast += g[i].capability >= KERAS_LEAST;
	if (!n) {
		hu_str_add(s, BEGIN "WARNING\nThe dtype policy mixed_float16 may run slowly because this machine does "
				    "not have a GPU. Only Nvidia GPUs with compute capability of at least 7.0 run "
				    "quickly with mixed_float16.\n" END);
	} else if (fast && n == 1) {
		describe(g, one, sizeof one);
		hu_str_addf(s,
			BEGIN "OK\nYour GPU will likely run quickly with dtype policy mixed_float16 as it has compute "
			      "capability of at least 7.0. Your GPU: %s",
			one);
	} else if (fast == n) {
		hu_str_add(s, BEGIN "OK\nYour GPUs will likely run quickly with dtype policy mixed_float16 as they all "
				    "have compute capability of at least 7.0");
	} else {
		hu_str_add(s, BEGIN "WARNING\n");
		hu_str_add(s, fast ? "Some of your GPUs may run slowly with dtype policy mixed_float16 because they do "
				     "not all have compute capability of at least 7.0. Your GPUs:\n"
			      : n == 1 ? "Your GPU may run slowly with dtype policy mixed_float16 because it does not "
					 "have compute capability of at least 7.0. Your GPU:\n"
				       : "Your GPUs may run slowly with dtype policy mixed_float16 because they do not "
					 "have compute capability of at least 7.0. Your GPUs:\n");
		list(s, g, n);
		hu_str_add(s, "See https://developer.nvidia.com/cuda-gpus for a list of GPUs and their compute "
			      "capabilities.\n" END);
	}
}
