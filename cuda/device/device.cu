/* SPDX-License-Identifier: Apache-2.0
   Finds devices through the CUDA runtime, which is linked statically and finds the driver by itself, or reports that
   there is none. The launch shim has no part of it. */
#ifdef __CUDACC__
#include "cuda/device/device.h"
#include "cuda/device/usable.h"

#include <cuda_runtime.h>
#include <stdio.h>

static char why[256];
static int taken;

/* Loading this kernel tells whether the build has code for the device. */
static __global__ void
probe_kernel(void)
{
}

int
hu_cuda_built(void)
{
	return 1;
}

void
hu_device_take(int place)
{
	int n = 0;

	/* Setting a device makes it the one of later calls; where that fails they say why. */
	if (cudaGetDeviceCount(&n) == cudaSuccess && n > 0) {
		taken = place % n;
		cudaSetDevice(taken);
	}
	cudaGetLastError();
}

int
hu_device_taken(void)
{
	return taken;
}

int
hu_device_count(void)
{
	hu_device_facts f = { 0, CUDART_VERSION, 0, NULL, "the GPU", 0, 0, 0 };
	cudaDeviceProp p;
	cudaFuncAttributes a;

	if (cudaDriverGetVersion(&f.driver) != cudaSuccess)
		f.driver = 0;
	cudaError_t e = cudaGetDeviceCount(&f.devices);
	if (e != cudaSuccess) {
		f.devices = 0;
		f.error = cudaGetErrorString(e);
	}
	if (f.devices && (e = cudaGetDeviceProperties(&p, taken)) == cudaSuccess) {
		f.name = p.name;
		f.major = p.major;
		f.minor = p.minor;
		e = cudaFuncGetAttributes(&a, probe_kernel);
		f.image = e == cudaSuccess;
		if (e != cudaSuccess && e != cudaErrorNoKernelImageForDevice && e != cudaErrorInvalidDeviceFunction &&
			e != cudaErrorUnsupportedPtxVersion)
			f.error = cudaGetErrorString(e);
	} else if (f.devices)
		f.error = cudaGetErrorString(e);
	cudaGetLastError(); /* otherwise the next call would report this error */
	return hu_device_usable(&f, why, sizeof why) ? f.devices : 0;
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
#endif
