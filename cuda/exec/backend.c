/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/exec/backend.h"

#include "cuda/device/device.h"
#include "cuda/exec/machine.h"
#include "cuda/nccl/nccl.h"
#include "lib/base/ranks/ranks.h"

#include <stdio.h>

#ifdef HU_HAVE_CUDA
enum { CUDA_BUILT = 1 };
#else
enum { CUDA_BUILT = 0 };
#endif
#ifdef HU_HAVE_SHIM
enum { SHIM_BUILT = 1 };
#else
enum { SHIM_BUILT = 0 };
#endif

/* Chooses this rank's device. HU_EUNABLE or HU_EDEVICE says why there is none. */
static hu_status
find_device(void)
{
	if (!hu_cuda_built())
		return hu_fail(HU_EUNABLE, "back end cuda: this build has no CUDA; configure --with-cuda=yes "
					   "on a machine that has nvcc, or use the back end cpu");
	hu_device_take(hu_ranks_place());
	if (!hu_device_count())
		return hu_fail(HU_EDEVICE, "back end cuda: %s; use the back end cpu, whose bits are the same",
			hu_device_why());
	return HU_OK;
}

/* Opens a machine of s where that is not NULL, else of p. */
static hu_status
cuda_open_on(hu_machine **m, const hu_program *p, const hu_spread *s, hu_gemm_way gemm)
{
	*m = NULL;
	HU_TRY(find_device());
#ifdef HU_HAVE_CUDA
	return s ? hu_machine_open_part(m, s, &hu_gpu_side, gemm) : hu_machine_open(m, p, &hu_gpu_side, gemm);
#else
	(void)s, (void)gemm;
	return hu_fail(HU_EUNABLE, "back end cuda: program %s cannot run in a build without CUDA", p->name);
#endif
}

static hu_status
shim_open_on(hu_machine **m, const hu_program *p, const hu_spread *s, hu_gemm_way gemm)
{
	*m = NULL;
#ifdef HU_HAVE_SHIM
	return s ? hu_machine_open_part(m, s, &hu_shim_side, gemm) : hu_machine_open(m, p, &hu_shim_side, gemm);
#else
	(void)p, (void)s, (void)gemm;
	return hu_fail(HU_EUNABLE, "back end shim: configure found no C++ compiler for it; install one (apt-get "
				   "install g++) and configure again, or use the back end cpu, whose bits are "
				   "the same");
#endif
}

#define OPEN(side)                                                                                                     \
	static hu_status side##_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm)                            \
	{                                                                                                              \
		return side##_open_on(m, p, NULL, gemm);                                                               \
	}                                                                                                              \
	static hu_status side##_open_part(hu_machine **m, const hu_spread *s, hu_gemm_way gemm)                        \
	{                                                                                                              \
		return side##_open_on(m, s->p, s, gemm);                                                               \
	}
OPEN(cuda)
OPEN(shim)

static void
cuda_where(char *name, size_t size)
{
	char device[96];

	hu_device_name(hu_device_taken(), device, sizeof device);
	snprintf(name, size, "cuda %d (%s)", hu_device_taken(), device);
}

static void
shim_where(char *name, size_t size)
{
	snprintf(name, size, "shim");
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

#define PART                                                                                                           \
	.memory = hu_machine_part_memory, .begin = hu_machine_part_begin, .end = hu_machine_part_end,                  \
	.run = hu_machine_part_run, .carry = hu_machine_part_carry, .judge = hu_machine_part_judge,                    \
	.found = hu_machine_part_found, .count = hu_machine_part_count, .bytes = hu_machine_part_bytes,                \
	.out = hu_machine_part_out, .landed = hu_machine_part_landed, .room = hu_machine_part_room,                    \
	.in = hu_machine_part_in, .own_digest = hu_machine_part_own_digest, .join = hu_machine_part_join,              \
	.leave = hu_nccl_leave, .reduce = hu_machine_part_reduce, .library = hu_machine_part_library
static const hu_part_calls cuda_part = { .open = cuda_open_part, .where = cuda_where, PART },
			   shim_part = { .open = shim_open_part, .where = shim_where, PART };

#define REST                                                                                                           \
	.close = hu_machine_close, .write = hu_machine_write, .read = hu_machine_read, .step = hu_machine_step,        \
	.room = hu_machine_room, .commit = hu_machine_commit, .digest = hu_machine_digest, .ran = hu_machine_ran,      \
	.tune = hu_machine_tune, .watch = hu_machine_watch, .tally = hu_machine_tally, .census = hu_machine_census,    \
	.updates = hu_machine_updates, .profile = hu_machine_profile, .mark = hu_machine_mark,                         \
	.elapsed = hu_machine_elapsed, .pass = hu_machine_pass, .gather = hu_device_gather, .lag = hu_machine_lag
const hu_backend hu_backend_cuda = { .name = "cuda",
	.summary = "own kernels on an NVIDIA GPU",
	.built = CUDA_BUILT,
	.reads = "gemm fuse graph",
	.open = cuda_open,
	.peak = cuda_peak,
	.part = &cuda_part,
	REST };
const hu_backend hu_backend_shim = { .name = "shim",
	.summary = "the GPU's kernels run on the host, slowly: for tests",
	.built = SHIM_BUILT,
	.reads = "gemm fuse graph",
	.open = shim_open,
	.peak = shim_peak,
	.part = &shim_part,
	REST };
