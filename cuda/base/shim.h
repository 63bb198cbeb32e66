/* SPDX-License-Identifier: Apache-2.0
   The host's side of cuda/base/launch.h. A block's threads are coroutines, run one at a time in an order drawn anew
   whenever several could run, so that a race between two barriers changes results from seed to seed. A launch stops
   with HU_EDEVICE if threads of a block wait at different barriers or one never arrives, if a warp's lanes disagree on
   what they do together, and if shared memory was written past its end (under AddressSanitizer: accessed past its end).
   Fresh shared memory is filled with 0xff, which reads as NaN. */
#ifndef HU_CUDA_SHIM_H
#define HU_CUDA_SHIM_H

#define HU_SIDE(name) hu_shim_##name
#define HU_KERNEL static void
#define HU_KERNEL_OF(n) static void
#define HU_KERNEL_FOR(n, blocks) static void
#define HU_DEVICE static inline
#define HU_DEVICE_CALL static __attribute__((noinline, unused))
#define HU_DEVICE_MEMBER inline
#define HU_BOTH_MEMBER inline
#define HU_PARAM const
#define HU_UNROLL
#define HU_ONCE
#define HU_UNROLL_BY(n)

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* The indices of the running thread. */
struct hu_shim_place { dim3 thread, block, threads, blocks; };
extern "C" __thread const hu_shim_place *hu_shim_here;
#define threadIdx (hu_shim_here->thread)
#define blockIdx (hu_shim_here->block)
#define blockDim (hu_shim_here->threads)
#define gridDim (hu_shim_here->blocks)

extern "C" {
/* Runs body(arg) once for each thread of grid x block; the first fault found stops the launch. */
hu_status hu_shim_run(const char *kernel, dim3 grid, dim3 block, size_t shared_bytes, void (*body)(void *), void *arg);
/* The same on a queue of shim_queue.cc, with a copy of the bytes at body. code is the kernel's address: a kernel whose
   first launch is recorded fails, because a device loads it then, which it cannot do while it records. */
hu_status hu_shim_post(void *queue, const char *kernel, const void *code, dim3 grid, dim3 block, size_t shared_bytes,
	void (*invoke)(void *), const void *body, size_t bytes);
/* Allows the next launch more shared memory than every device gives. */
void hu_shim_large(void);
/* Returns how much shared memory the next launch may have and replaces it by next; hu_shim_post keeps it until the
   kernel runs. */
size_t hu_shim_most(size_t next);
/* The same for how many blocks of the next launch run side by side. */
unsigned hu_shim_together(unsigned next);
/* The block's array declared at site. */
void *hu_shim_shared(const void *site, size_t bytes, const char *name);
void *hu_shim_dynamic(void);
/* A barrier of a block; pair: of the two blocks of a pair. */
void hu_shim_barrier(const char *file, int line, int pair = 0);
/* Passes size <= HU_SHIM_PIECE bytes to the warp and waits for its 32 lanes. Lane j's bytes are then at [j *
   HU_SHIM_PIECE] until the next such call. what must be the same for every lane. */
const unsigned char *hu_shim_meet(const void *mine, size_t size, const char *what, const char *file, int line);
unsigned hu_shim_lane(void);
/* A random number below n from the seed, independent of the order of threads. */
uint32_t hu_shim_draw(uint32_t n);
}
enum { HU_SHIM_PIECE = 192 };

template <class F> static void hu_shim_invoke(void *f) { (*(F *)f)(); }

template <class... P, class... A>
static inline hu_status
hu_shim_launch(const char *name, dim3 grid, dim3 block, size_t shared, void *queue, void (*kernel)(P...), A... args)
{
	auto body = [=] { kernel(args...); };

	return hu_shim_post(
		queue, name, (const void *)kernel, grid, block, shared, hu_shim_invoke<decltype(body)>,
		(const void *)&body, sizeof body);
}

#define HU_LAUNCH(kernel, grid, block, shared_bytes, queue, ...) \
	hu_shim_launch(#kernel, (grid), (block), (shared_bytes), (queue), (kernel), __VA_ARGS__)

#define HU_COMPILED_FOR(kernel) 90
#define HU_LAUNCH_LARGE(kernel, grid, block, shared_bytes, queue, ...)                                                 \
	(hu_shim_large(), HU_LAUNCH(kernel, grid, block, shared_bytes, queue, __VA_ARGS__))

#define HU_LAUNCH_PAIRS(kernel, grid, block, shared_bytes, queue, ...)                                                 \
	(hu_shim_together(2), HU_LAUNCH_LARGE(kernel, grid, block, shared_bytes, queue, __VA_ARGS__))

#define HU_SHARED(type, name, n)      \
	static char name##_site;            \
	type *const name = (type *)hu_shim_shared(&name##_site, sizeof(type) * (n), #name)
#define HU_SHARED_ALIGNED(type, name, n, align) HU_SHARED(type, name, n)
#define HU_SHARED_BYTES(name) unsigned char *const name = (unsigned char *)hu_shim_dynamic()
#define HU_SYNC() hu_shim_barrier(__FILE__, __LINE__)

#define HU_SHIM_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()

template <class T>
HU_DEVICE T
hu_shim_take(const unsigned char *all, unsigned lane)
{
	T x;

	memcpy(&x, all + lane * HU_SHIM_PIECE, sizeof x);
	return x;
}

template <class T>
HU_DEVICE T
hu_shfl(T x, unsigned lane, HU_SHIM_AT)
{
	return hu_shim_take<T>(hu_shim_meet(&x, sizeof x, "shuffle", file, line), lane % 32);
}

/* A lane keeps its own value if the other one would be past the warp's end. */
template <class T>
HU_DEVICE T
hu_shfl_down(T x, unsigned by, HU_SHIM_AT)
{
	const unsigned char *all = hu_shim_meet(&x, sizeof x, "shuffle down", file, line);
	unsigned from = hu_shim_lane() + by;

	return from < 32 ? hu_shim_take<T>(all, from) : x;
}

template <class T>
HU_DEVICE T
hu_shfl_xor(T x, unsigned mask, HU_SHIM_AT)
{
	return hu_shim_take<T>(hu_shim_meet(&x, sizeof x, "shuffle xor", file, line), (hu_shim_lane() ^ mask) % 32);
}

HU_DEVICE uint32_t
hu_ballot(int p, HU_SHIM_AT)
{
	const unsigned char *all = hu_shim_meet(&p, sizeof p, "ballot", file, line);
	uint32_t votes = 0;

	for (unsigned j = 0; j < 32; j++)
		votes |= (uint32_t)(hu_shim_take<int>(all, j) != 0) << j;
	return votes;
}

HU_DEVICE uint32_t hu_bits_set(uint32_t x) { return (uint32_t)__builtin_popcount(x); }
HU_DEVICE void hu_syncwarp(HU_SHIM_AT) { hu_shim_meet("", 0, "warp barrier", file, line); }

/* These are atomic because blocks may run on several cores. */
HU_DEVICE uint32_t hu_atomic_add(uint32_t *p, uint32_t x) { return __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }
HU_DEVICE uint64_t hu_atomic_add(uint64_t *p, uint64_t x) { return __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }
HU_DEVICE uint32_t hu_atomic_or(uint32_t *p, uint32_t x) { return __atomic_fetch_or(p, x, __ATOMIC_RELAXED); }

template <class T>
HU_DEVICE T
hu_atomic_max(T *p, T x)
{
	T old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (old < x && !__atomic_compare_exchange_n(p, &old, x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return old;
}
#endif
