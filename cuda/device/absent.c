/* SPDX-License-Identifier: Apache-2.0
   What cuda/device/device.h answers in a build without CUDA. */
#include "cuda/device/device.h"

int
hu_cuda_built(void)
{
	return 0;
}

int
hu_device_count(void)
{
	return 0;
}

int
hu_device_name(int i, char *name, size_t size)
{
	(void)i;
	if (size)
		name[0] = 0;
	return 0;
}

void
hu_device_take(int place)
{
	(void)place;
}

int
hu_device_taken(void)
{
	return 0;
}

const char *
hu_device_why(void)
{
	return "this build has no CUDA (configure --with-cuda=yes)";
}
