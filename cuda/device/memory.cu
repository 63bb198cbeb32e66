/* SPDX-License-Identifier: Apache-2.0
   Device memory, transfers and queues of a side, and its row for the executor (side.h). On the GPU every call is
   checked and reports in one line what failed; on the host memory comes from malloc, with a limit that tests can
   set. */
#include "cuda/device/device.h"
#include "cuda/fuse/side.h"
#include "cuda/element/store.h"

extern "C" {
#include "lib/base/hash.h"
}

#include <stdio.h>
#include <stdlib.h>

/* Bytes allocated now, and the most since the mark was reset. */
static size_t allocated, most;

static void
add_allocated(size_t bytes)
{
	allocated += bytes;
	most = allocated > most ? allocated : most;
}

static size_t
peak(int again)
{
	size_t was = most;

	if (again)
		most = allocated;
	return was;
}

#ifdef __CUDACC__
/* The device's blocks and their sizes, which its allocator does not report. */
typedef struct block { void *p; size_t bytes; struct block *next; } block;
static block *blocks;

static void
remember(void *p, size_t bytes)
{
	block *b = (block *)malloc(sizeof *b);

	if (!b)
		return;
	b->p = p;
	b->bytes = bytes;
	b->next = blocks;
	blocks = b;
	add_allocated(bytes);
}

static void
forget(void *p)
{
	for (block **at = &blocks; *at; at = &(*at)->next)
		if ((*at)->p == p) {
			block *gone = *at;
			allocated -= gone->bytes;
			*at = gone->next;
			free(gone);
			return;
		}
}

hu_status
hu_gpu_checked(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return HU_OK;
	cudaGetLastError(); /* otherwise the next call would report this error, if it can be cleared at all */
	if (e == cudaErrorMemoryAllocation)
		return hu_fail(HU_ENOMEM, "%s: the device is out of memory", what);
	return hu_fail(HU_EDEVICE, "%s: %s (%s)", what, cudaGetErrorString(e), cudaGetErrorName(e));
}
#define HU_CUDA(call, what) HU_TRY(hu_gpu_checked(call, what))

static hu_status
open_queue(void **queue)
{
	cudaStream_t s;

	*queue = NULL;
	HU_CUDA(cudaSetDevice(hu_device_taken()), "choosing a device");
	HU_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "making a stream");
	*queue = s;
	return HU_OK;
}

static void
close_queue(void *queue)
{
	cudaStreamDestroy((cudaStream_t)queue);
}

static hu_status
alloc(void **p, size_t bytes)
{
	*p = NULL;
	HU_CUDA(cudaMalloc(p, bytes ? bytes : 1), "device memory");
	remember(*p, bytes);
	return HU_OK;
}

static void
release(void *p)
{
	forget(p);
	cudaFree(p);
}

static hu_status
host_alloc(void **p, size_t bytes)
{
	*p = NULL;
	HU_CUDA(cudaMallocHost(p, bytes ? bytes : 1), "page-locked memory");
	return HU_OK;
}

static void
host_release(void *p)
{
	cudaFreeHost(p);
}

static hu_status
clear(void *queue, void *p, size_t bytes)
{
	return hu_gpu_checked(cudaMemsetAsync(p, 0, bytes, (cudaStream_t)queue), "clearing device memory");
}

static hu_status
upload(void *queue, void *to, const void *from, size_t bytes)
{
	return hu_gpu_checked(
		cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, (cudaStream_t)queue), "copying to the device");
}

static hu_status
download(void *queue, void *to, const void *from, size_t bytes)
{
	return hu_gpu_checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, (cudaStream_t)queue),
		"copying from the device");
}

static hu_status
copy(void *queue, void *to, const void *from, size_t bytes)
{
	return hu_gpu_checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)queue),
		"copying on the device");
}

static hu_status
wait(void *queue)
{
	return hu_gpu_checked(cudaStreamSynchronize((cudaStream_t)queue), "waiting for the device");
}

static hu_status
memory(size_t *left, size_t *total)
{
	*left = *total = 0;
	HU_CUDA(cudaMemGetInfo(left, total), "asking for free memory");
	return HU_OK;
}

static int
arch(void)
{
	int major = 0, minor = 0;

	if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, hu_device_taken()) != cudaSuccess ||
		cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, hu_device_taken()) != cudaSuccess)
		return HU_TC_ARCHS;
	switch (major * 10 + minor) {
	case 70: return HU_TC_VOLTA;
	case 75: return HU_TC_TURING;
	case 89: return HU_TC_ADA;
	default: /* other generations by their first number alone */
		return major == 8    ? HU_TC_AMPERE
		       : major == 9  ? HU_TC_HOPPER
		       : major == 10 ? HU_TC_BLACKWELL
		       : major == 12 ? HU_TC_RTXBLACKWELL
				     : HU_TC_ARCHS;
	}
}
#define SIDE_NAME "cuda", "own kernels on an NVIDIA GPU"

#else

/* The header in front of each block holds its size. Blocks begin at multiples of 256, as a device's do. */
enum { HEADER = 256 };
static size_t limit;

static hu_status
open_queue(void **queue)
{
	hu_shim_environment();
	return hu_shim_queue_open(queue);
}

static hu_status
alloc(void **p, size_t bytes)
{
	size_t all = (bytes + 2 * HEADER - 1) / HEADER * HEADER;

	*p = NULL;
	HU_TRY(hu_shim_unrecorded("allocating device memory"));
	unsigned char *a = limit && allocated + bytes > limit ? NULL : (unsigned char *)aligned_alloc(HEADER, all);
	if (!a)
		return hu_fail(HU_ENOMEM, "device memory: the device is out of memory");
	memset(a + HEADER, 0xff, all - HEADER); /* memory that a kernel reads without setting it is NaN */
	memcpy(a, &bytes, sizeof bytes);
	add_allocated(bytes);
	*p = a + HEADER;
	return HU_OK;
}

static void
release(void *p)
{
	size_t bytes;

	if (!p)
		return;
	memcpy(&bytes, (unsigned char *)p - HEADER, sizeof bytes);
	allocated -= bytes;
	free((unsigned char *)p - HEADER);
}

static hu_status
host_alloc(void **p, size_t bytes)
{
	*p = NULL;
	HU_TRY(hu_shim_unrecorded("allocating page-locked memory"));
	*p = malloc(bytes ? bytes : 1);
	return *p ? HU_OK : hu_fail(HU_ENOMEM, "there is no memory for a transfer of %zu bytes", bytes);
}

static void
host_release(void *p)
{
	free(p);
}

#define close_queue hu_shim_queue_close
#define clear hu_shim_queue_clear
#define copy hu_shim_queue_copy
#define upload copy
#define download copy
#define wait hu_shim_queue_wait

static hu_status
memory(size_t *left, size_t *total)
{
	*total = limit ? limit : (size_t)1 << 40;
	*left = *total - allocated;
	return HU_OK;
}

static int
arch(void)
{
	return -1;
}
#define SIDE_NAME "shim", "the GPU's kernels run on the host, slowly: for tests"

extern "C" void
hu_shim_limit(size_t bytes)
{
	limit = bytes;
}

extern "C" size_t
hu_shim_allocated(void)
{
	return allocated;
}
#endif

/* Sums hu_digest_term over a tensor, in any order because the terms are integers (look.cu does so for many tensors at
   once). */
HU_KERNEL
digest_kernel(HU_PARAM hu_store_operand t, hu_format f, uint32_t n, uint64_t name, uint64_t *sum)
{
	uint64_t mine = 0;

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		uint64_t code = t.kind == HU_KIND_CODE16  ? ((const uint16_t *)t.data)[i]
				: t.kind == HU_KIND_CODE8 ? ((const uint8_t *)t.data)[i]
							  : hu_encode(hu_load_f64(&t, i), f);
		mine += hu_digest_term(name, i, code);
	}
	for (unsigned by = 16; by; by /= 2)
		mine += hu_shfl_down(mine, by);
	if (threadIdx.x % 32 == 0)
		hu_atomic_add(sum, mine);
}

static hu_status
digest(void *queue, const hu_slot *t, uint64_t name, uint64_t *sum)
{
	return HU_LAUNCH(digest_kernel, hu_blocks_for(t->n, 256, 4096), 256, 0, queue, hu_operand_of(t, 0),
		hu_format_of(t->format), (uint32_t)t->n, name, sum);
}

extern "C" {
#define KERNEL(op) hu_status HU_SIDE(op_##op)(hu_work *w);
#include "cuda/kernel/kernels.def"
#undef KERNEL
hu_status HU_SIDE(selftest)(int which, void *out, const void *in, size_t n);
}

static const hu_kernel kernels[] = {
#define KERNEL(op) { #op, HU_SIDE(op_##op) },
#include "cuda/kernel/kernels.def"
#undef KERNEL
	{ NULL, NULL }
};

extern "C" {
#define FUSION(name, kind, pattern, summary)                                                                           \
	int HU_SIDE(fuse_##name##_serves)(const hu_work *w, int n);                                                    \
	hu_status HU_SIDE(fuse_##name)(hu_work * w, int n);
#include "cuda/fuse/fusions.def"
#undef FUSION
extern const hu_queue_calls HU_SIDE(queues);
extern const hu_look_calls HU_SIDE(look);
}

static const hu_fusion fusions[] = {
#define FUSION(name, kind, pattern, summary)                                                                           \
	{ #name, pattern, summary, HU_FUSE_##kind, HU_SIDE(fuse_##name##_serves), HU_SIDE(fuse_##name) },
#include "cuda/fuse/fusions.def"
#undef FUSION
	{ NULL, NULL, NULL, HU_FUSE_CHAIN, NULL, NULL }
};

extern "C" const hu_side HU_SIDE(side) = { SIDE_NAME, open_queue, close_queue, alloc, release, host_alloc, host_release,
	clear, upload, download, copy, wait, memory, arch, kernels, digest, HU_SIDE(selftest), fusions,
	&HU_SIDE(queues), &HU_SIDE(look), peak,
#ifdef __CUDACC__
	0
#else
	1
#endif
};
#undef close_queue
#undef clear
#undef copy
#undef upload
#undef download
#undef wait
