/* SPDX-License-Identifier: Apache-2.0
   Policies as texts: what is refused, and what a free form and a name without regard to case are read as. */
#include "lib/program/policy/policy.h"
#include "t/tool/tap.h"

static void
refused(void)
{
	static const char *const bad[] = { "mixed_float17", "compute=fp99", "compute=float16,colour=red",
		"list=sometimes,compute=float16", "mixed_float16,layer:x", "no/such/file.json", "/",
		"compute=float16,variable=float32,compute=bfloat16", "nvfp4,hadamard=none,hadamard=wgrad",
		"mxfp8,high=first,high=last", "nvfp4,high=first+first", "nvfp4,hadamard=+", "nvfp4,hadamard=wgrad+",
		"mixed_float16,layer:dense1=float32,layer:dense1=float16" };
	hu_policy p;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(hu_policy_parse(bad[i], &p) != HU_OK, "policy '%s' is refused: %s", bad[i], hu_reason());
}

static void
read_back(void)
{
	hu_policy p;

	ok(hu_policy_parse("compute=float16,variable=float64,list=autocast", &p) == HU_OK && p.compute == HU_FP16 &&
			p.variable == HU_FP64 && !p.dynamic,
		"free form");
	ok(hu_policy_parse("mixed_float16,layer:dense1=float32,layer:dense*=float32", &p) == HU_OK && p.noverride == 2,
		"patterns that are not the same");
	ok(hu_policy_parse("nvfp4,hadamard=forward+wgrad,high=first+last", &p) == HU_OK && p.blocks.high == 3,
		"words joined by +");
	ok(hu_policy_parse("MIXED_FLOAT16", &p) == HU_OK && p.dynamic, "names without regard to case");
}

int
main(void)
{
	refused();
	read_back();
	return done_testing();
}
