/* SPDX-License-Identifier: Apache-2.0
   The devices through the CUDA runtime, which is linked statically and finds
   the driver by itself, or reports that there is none. */
#include "cuda/device.h"

#include <cuda_runtime.h>
#include <stdio.h>

static const char *why = "";

int
hu_cuda_built(void)
{
	return 1;
}

int
hu_device_count(void)
{
	int n = 0;
	cudaError_t e = cudaGetDeviceCount(&n);

	if (e != cudaSuccess) {
		cudaGetLastError(); /* else the next call would report this one */
		n = 0;
	}
	why = n ? "" : e == cudaSuccess ? "no CUDA device" : cudaGetErrorString(e);
	return n;
}

int
hu_device_name(int i, char *name, size_t size)
{
	cudaDeviceProp p;

	if (size)
		name[0] = 0;
	if (i < 0 || i >= hu_device_count() || cudaGetDeviceProperties(&p, i) != cudaSuccess)
		return 0;
	snprintf(name, size, "%s, %d.%d", p.name, p.major, p.minor);
	return 1;
}

const char *
hu_device_why(void)
{
	return why;
}
