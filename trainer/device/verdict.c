/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/verdict.h"

int
hu_mixed_fast(int capability)
{
	return capability >= 70;
}

const char *
hu_mixed_verdict(int capability)
{
	if (capability >= 80)
		return "mixed precision will run fast: compute capability of at least 7.0, with matrix units for fp16, and here for bf16 and tf32 too";
	if (capability >= 70)
		return "mixed precision will run fast with mixed_float16: compute capability of at least 7.0, with matrix units for fp16; mixed_bfloat16 will not, they have no bf16";
	if (capability)
		return "mixed precision will not run fast: compute capability below 7.0 has no matrix units; it still saves memory";
	return "mixed precision will not run fast on a processor; here it is for its numbers";
}

/* First capability with it: PTX ISA, sections on mma, wgmma and tcgen05 and their target notes; Volta's and Turing's whitepapers.
   12.x has its own mma for 8, 6 and 4 bits and none of 10.x's tcgen05. */
const char *
hu_matrix_features(int capability)
{
	static const struct { int from; const char *what; } rows[] = {
		{ 120, "fp16, bf16, tf32, fp64, fp8, fp6, fp4 and block-scaled by mma" },
		{ 100, "fp16, bf16, tf32, fp64 by mma; fp8, fp6, fp4 and block-scaled by tcgen05" },
		{ 90, "fp16, bf16, tf32, fp64 by mma; with fp8 by wgmma (fp8 by mma is emulated)" },
		{ 89, "fp16, bf16, tf32, fp64 and fp8 by mma" },
		{ 80, "fp16, bf16, tf32, fp64 by mma" },
		{ 75, "fp16 by mma, blocks of 8 products" },
		{ 70, "fp16 by mma, blocks of 4 products" },
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (capability >= rows[i].from)
			return rows[i].what;
	return "none";
}
