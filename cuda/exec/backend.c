/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/exec/backend.h"

#include "cuda/device/device.h"
#include "cuda/exec/machine.h"

static hu_status
cuda_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm)
{
	*m = NULL;
	(void)gemm;
	if (!hu_cuda_built())
		return hu_fail(HU_EUNABLE, "back end cuda: this build has no CUDA; configure --with-cuda=yes "
					   "on a machine that has nvcc, or use the back end cpu");
	if (!hu_device_count())
		return hu_fail(HU_EDEVICE, "back end cuda: %s; use the back end cpu, whose bits are the same",
			hu_device_why());
#ifdef HU_HAVE_CUDA
	return hu_machine_open(m, p, &hu_gpu_side, gemm);
#else
	return hu_fail(HU_EUNABLE, "back end cuda: program %s cannot run in a build without CUDA", p->name);
#endif
}

static hu_status
shim_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm)
{
	*m = NULL;
	(void)gemm;
#ifdef HU_HAVE_SHIM
	return hu_machine_open(m, p, &hu_shim_side, gemm);
#else
	return hu_fail(HU_EUNABLE,
		"back end shim: this build has no C++ compiler's work in it; program %s runs on the back end cpu",
		p->name);
#endif
}

static size_t
cuda_peak(int again)
{
	(void)again;
#ifdef HU_HAVE_CUDA
	return hu_gpu_side.peak(again);
#else
	return 0;
#endif
}

static size_t
shim_peak(int again)
{
	(void)again;
#ifdef HU_HAVE_SHIM
	return hu_shim_side.peak(again);
#else
	return 0;
#endif
}

#define REST                                                                                                           \
	.close = hu_machine_close, .write = hu_machine_write, .read = hu_machine_read, .step = hu_machine_step,        \
	.room = hu_machine_room, .commit = hu_machine_commit, .digest = hu_machine_digest, .ran = hu_machine_ran,      \
	.tune = hu_machine_tune, .watch = hu_machine_watch, .tally = hu_machine_tally, .census = hu_machine_census,    \
	.updates = hu_machine_updates, .profile = hu_machine_profile, .mark = hu_machine_mark,                         \
	.elapsed = hu_machine_elapsed, .pass = hu_machine_pass, .gather = hu_device_gather, .lag = hu_machine_lag
const hu_backend hu_backend_cuda = { .name = "cuda",
	.summary = "own kernels on an NVIDIA GPU",
	.reads = "gemm fuse graph",
	.open = cuda_open,
	.peak = cuda_peak,
	REST };
const hu_backend hu_backend_shim = { .name = "shim",
	.summary = "the GPU's kernels run on the host, slowly: for tests",
	.reads = "gemm fuse graph",
	.open = shim_open,
	.peak = shim_peak,
	REST };
