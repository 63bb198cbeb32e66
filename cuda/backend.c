/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/backend.h"

#include "cuda/device.h"

#include <stdlib.h>

static hu_status
cuda_open(hu_machine **m, const hu_program *p)
{
	*m = NULL;
	if (!hu_cuda_built())
		return hu_fail(HU_EUNABLE, "back end cuda: this build has no CUDA; configure --with-cuda=yes where nvcc is, or use --backend cpu");
	if (!hu_device_count())
		return hu_fail(HU_EDEVICE, "back end cuda: %s; use --backend cpu, whose bits are the same", hu_device_why());
	return hu_fail(HU_EUNABLE, "back end cuda: operator %s has no kernel in this version; use --backend cpu", p->nc ? p->c[0].op->name : "(none)");
}

static void
cuda_close(hu_machine *m)
{
	HU_ASSERT(!m); /* open never gave one out */
}

const hu_backend hu_backend_cuda = { .name = "cuda", .summary = "kernels on an NVIDIA GPU", .open = cuda_open, .close = cuda_close };
