/* SPDX-License-Identifier: Apache-2.0
   Tests of kernels run on each side there is: the launch shim wherever it was built, a GPU where one is. */
#ifndef HU_T_CUDA_SIDES_H
#define HU_T_CUDA_SIDES_H

#include "cuda/device.h"
#include "cuda/side.h"
#include "lib/number/format.h"
#include "t/tap.h"

static inline hu_format_id
format(const char *name)
{
	hu_format_id f;

	if (hu_format_find(name, &f) != HU_OK)
		bail_out("%s", hu_reason());
	return f;
}

/* TEST on each side; ON_SHIM, where not NULL, on the shim alone, which must leave nothing allocated. */
static inline void
on_each_side(void (*test)(const hu_side *side), void (*on_shim)(const hu_side *side))
{
#ifdef HU_HAVE_SHIM
	test(&hu_shim_side);
	if (on_shim)
		on_shim(&hu_shim_side);
	is_int((long long)hu_shim_allocated(), 0, "shim: nothing was left allocated");
#else
	(void)on_shim;
	skip(1, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
#ifdef HU_HAVE_CUDA
	if (hu_device_count())
		test(&hu_gpu_side);
	else
		skip(1, "cuda: %s", hu_device_why());
#else
	(void)test;
#endif
}
#endif
