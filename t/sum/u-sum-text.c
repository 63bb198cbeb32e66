/* SPDX-License-Identifier: Apache-2.0
   The spelling of summation models: read, printed, read again, and refused. Tensor cores' names are u-tc.c's. */
#include "lib/sum/sum.h"
#include "t/tool/tap.h"

#include <string.h>

static void
test_text(void)
{
	static const char *const good[][2] = { { "fma", "fma,acc=fp32" }, { "chunk:64,acc=half", "chunk:64,acc=fp16" },
		{ "pairwise,mode=rz,acc=bf16,outer=fp32", "pairwise,acc=bf16,outer=fp32,mode=RZ" },
		{ "promote:128,acc=fp16,outer=fp16", "promote:128,acc=fp16,outer=fp16" },
		{ "fma,acc=fp16,mode=sr,bits=8", "fma,acc=fp16,mode=SR,bits=8" },
		{ "chunk:4,bits=32,mode=SR", "chunk:4,acc=fp32,mode=SR" },
		{ "ring:64,wire=bf16", "ring:64,acc=fp32,wire=bf16" },
		{ "hier:64:8,mode=sr,bits=7", "hier:64:8,acc=fp32,mode=SR,bits=7" } };
	static const char *const bad[] = { "", "fmaa", "chunk", "chunk:0", "chunk:x", "fma:3", "fma,acc",
		"fma,acc=fp17", "fma,key=1", "fma,acc=fp64,mode=SR", "fma,acc=e8m0", "fma,acc=e8m40",
		"fma,acc=fp16,bits=8", "fma,mode=SRE,bits=8", "fma,mode=SR,bits=0", "fma,mode=SR,bits=33",
		"fma,mode=SR,bits=x", "fma,mode=SR,bits=", "fma,", ",fma", "fma,,acc=fp16", "fma,acc=fp16,acc=fp16",
		"tc:hopper,in=fp16,in=fp16", "ring", "ring:0", "ring:2x", "ring:4,outer=bf16", "fma,wire=bf16",
		"hier:8", "hier:8:", "hier:8:9", "hier:8:0", "hier:8:2:2", "tree:8:2" };
	char text[96];
	hu_sum s;
	int taken = 0;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		if (hu_sum_parse(good[i][0], &s) == HU_OK)
			hu_sum_print(s, text, sizeof text);
		is_text(text, good[i][1], "%s is printed in full", good[i][0]);
		hu_sum again;
		char twice[96];
		int same = hu_sum_parse(text, &again) == HU_OK;
		hu_sum_print(again, twice, sizeof twice);
		ok(same && !strcmp(text, twice) && again.bits == s.bits && again.mode == s.mode, "and read back");
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		taken += hu_sum_parse(bad[i], &s) == HU_OK;
	is_int(taken, 0, "misspelt models are refused");
}

int
main(void)
{
	test_text();
	return done_testing();
}
