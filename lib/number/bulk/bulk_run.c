/* SPDX-License-Identifier: Apache-2.0
   Chooses the loops of a bulk call and shares its elements among threads. */
#include "lib/number/bulk/bulk_table.h"

#include <omp.h>

/* Elements from which a second thread pays. Waking a team of threads takes about 50 microseconds, in which one
   thread rounds some 100 000 floats. */
enum { THREADS_FROM = 1 << 19 };

const hu_bulk_kernels *
hu_bulk_kernels_of(hu_simd level)
{
	switch (level) {
#if defined(__x86_64__)
	case HU_SIMD_AVX512: return &hu_bulk_avx512;
	case HU_SIMD_AVX2: return &hu_bulk_avx2;
#elif defined(__aarch64__)
	case HU_SIMD_NEON: return &hu_bulk_neon;
#endif
	default: /* HU_SIMD_SCALAR, and what other processors have */
		return &hu_bulk_scalar;
	}
}

void
hu_bulk_run(hu_bulk_stretch *f, const hu_bulk_job *j, void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
	size_t n, uint64_t index0)
{
	size_t threads = n < THREADS_FROM || omp_in_parallel() ? 1 : (size_t)omp_get_max_threads();
	size_t each = (n / threads + HU_BULK_PART) / HU_BULK_PART * HU_BULK_PART;

	if (threads < 2) {
		f(j, dst, src, n, index0);
		return;
	}
#pragma omp parallel for schedule(static) num_threads((int)threads)
	for (size_t t = 0; t < threads; t++) {
		size_t first = t * each < n ? t * each : n, m = n - first < each ? n - first : each;
		f(j, (char *)dst + first * dst_bytes, (const char *)src + first * src_bytes, m, index0 + first);
	}
}
