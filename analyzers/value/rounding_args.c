/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/value/rounding_args.h"

#include "lib/base/str.h"

#include <string.h>

static int
random_bits(int flags)
{
	int k = flags >> 8 & 63;

	return k ? k : 32;
}

int
hu_rounding_draws(const void *args)
{
	hu_mode mode;

	return hu_mode_find(hu_args_text(args, "mode"), &mode) != HU_OK || hu_mode_draws(mode);
}

int
hu_rounding_compares(const void *args)
{
	hu_mode mode;

	return hu_mode_find(hu_args_text(args, "mode"), &mode) != HU_OK || mode == HU_SR;
}

int
hu_rounding_codes(const void *args)
{
	const hu_args *a = args;

	for (int i = 0; i < a->nrest; i++)
		if (!strcmp(a->rest[i], "-") || strstr(a->rest[i], "0x") || strstr(a->rest[i], "0X"))
			return 1;
	return !a->nrest;
}

hu_status
hu_rounding_args(hu_arithmetic *a, const hu_args *args)
{
	long long seed, bits;

	HU_TRY(hu_mode_find(hu_args_text(args, "mode"), &a->mode));
	HU_TRY(hu_args_int(args, "seed", 0, 0x7fffffffffffffffLL, &seed));
	HU_TRY(hu_args_int(args, "mode:random_bits", 1, 32, &bits));
	const char *variant = hu_args_text(args, "mode:variant");
	if (!strchr("ABCabc", *variant) || strlen(variant) != 1)
		return hu_fail(HU_EINVAL, "--mode variant=%s: it is A, B or C, P3109's StochasticA to StochasticC",
			variant);
	a->seed = (uint64_t)seed;
	if (hu_args_given(args, "mode:saturate") && hu_args_given(args, "mode:propagate"))
		return hu_fail(HU_EINVAL,
			"--mode saturate,propagate: an infinity becomes the largest value by the first and stays by "
			"the second; leave out one");
	a->flags = (hu_args_given(args, "mode:saturate") ? HU_SATURATE : 0) |
		   (hu_args_given(args, "mode:propagate") ? HU_SATURATE | HU_PROPAGATE : 0) |
		   (hu_args_given(args, "mode:ftz") ? HU_FTZ : 0) | (hu_args_given(args, "mode:daz") ? HU_DAZ : 0) |
		   HU_RANDOM_BITS((int)bits) | (*variant == 'B' || *variant == 'b' ? HU_STOCHASTIC_B : 0) |
		   (*variant == 'C' || *variant == 'c' ? HU_STOCHASTIC_C : 0);
	return HU_OK;
}

char *
hu_rounding_text(const hu_arithmetic *a)
{
	const char *mode = a->mode == HU_RNE ? "" : hu_mode_name(a->mode);
	hu_str s, keys;

	hu_str_init(&s);
	hu_str_init(&keys);
	hu_str_add(&s, "");
	if (hu_mode_draws(a->mode) && random_bits(a->flags) < 32)
		hu_str_addf(&keys, ",random_bits=%d", random_bits(a->flags));
	if (hu_mode_draws(a->mode) && (a->flags & (HU_STOCHASTIC_B | HU_STOCHASTIC_C)))
		hu_str_addf(&keys, ",variant=%c", a->flags & HU_STOCHASTIC_B ? 'B' : 'C');
	hu_str_add(&keys, a->flags & HU_PROPAGATE ? ",propagate" : a->flags & HU_SATURATE ? ",saturate" : "");
	hu_str_add(&keys, a->flags & HU_FTZ ? ",ftz" : "");
	hu_str_add(&keys, a->flags & HU_DAZ ? ",daz" : "");
	if (*mode || keys.len)
		hu_str_addf(&s, " --mode %s%s%s", mode, *mode && keys.len ? ":" : "", keys.len ? keys.s + 1 : "");
	if (hu_mode_draws(a->mode))
		hu_str_addf(&s, " --seed %llu", (unsigned long long)a->seed);
	hu_str_release(&keys);
	return s.s;
}
