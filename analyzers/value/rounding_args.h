/* SPDX-License-Identifier: Apache-2.0
   The options of calc and round for how values are rounded, so that both commands have the same ones. */
#ifndef HU_ANALYZERS_ROUNDING_ARGS_H
#define HU_ANALYZERS_ROUNDING_ARGS_H

#include "analyzers/expression/expr.h"
#include "lib/base/console/opt.h"

/* The rows of an option table that hu_rounding_args reads; mode_help is the help text of --mode. */
#define HU_ROUNDING_OPTS(mode_help)                                                                                    \
	{ "mode", "MODE", "RNE", mode_help }, { "mode:random_bits", "K", "32", "random bits that SR compares" },       \
		{ "mode:variant", "V", "A",                                                                            \
			"A: SR chops the fraction to K bits; B, C: it rounds it, C with ties to even (P3109)" },       \
		{ "mode:saturate", NULL, NULL, "overflow gives the largest finite value" },                            \
		{ "mode:propagate", NULL, NULL,                                                                        \
			"the same, but an infinity stays one where the format has it (P3109's SatPropagate)" },        \
		{ "mode:ftz", NULL, NULL, "flush to zero: subnormal results become zero" },                            \
		{ "mode:daz", NULL, NULL,                                                                              \
			"denormals are zero: values below the smallest normal number count as zero" },                 \
		{ "seed", "N", "0", "seed of stochastic rounding (SR, SRE)" },                                         \
	{                                                                                                              \
		"bits", NULL, NULL, "hex integers such as 0x3c00 are codes of the format"                              \
	}

/* Conditions on a hu_args, for a table of needs: --mode draws random bits; --mode compares random_bits= of them. */
int hu_rounding_draws(const void *args);
int hu_rounding_compares(const void *args);
/* Condition: a word of the line has a hexadecimal integer, or words are read from standard input. */
int hu_rounding_codes(const void *args);

/* Fills mode, seed and flags of a; the rest is untouched. HU_EINVAL names a wrong option. */
hu_status hu_rounding_args(hu_arithmetic *a, const hu_args *args);

/* Returns the options given, as words that repeat them: " --mode SR:ftz --seed 5". The caller frees the text. */
char *hu_rounding_text(const hu_arithmetic *a);
#endif
