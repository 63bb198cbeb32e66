/* SPDX-License-Identifier: Apache-2.0
   Counts, for all threads at once, how many sums and multiply-adds of exact products were computed in each way. */
#include "lib/exact/gemm.h"
#include "lib/exact/judge.h"

#include <stdatomic.h>

static atomic_ullong terms[HU_TALLY_WAYS], sums[HU_TALLY_WAYS], judged;

static hu_exact_ways
counted(atomic_ullong *by)
{
	return (hu_exact_ways){ atomic_load(&by[HU_TALLY_ONE]), atomic_load(&by[HU_TALLY_TWO]),
		atomic_load(&by[HU_TALLY_MORE]), atomic_load(&by[HU_TALLY_INTEGERS]), atomic_load(&by[HU_TALLY_BLAS]),
		atomic_load(&by[HU_TALLY_MPFR]) };
}

void
hu_exact_tally_get(hu_exact_tally *t)
{
	t->terms = counted(terms);
	t->by = counted(sums);
	t->judged = atomic_load(&judged);
	t->sums = t->by.one + t->by.two + t->by.more + t->by.integers + t->by.blas + t->by.mpfr;
}

void
hu_exact_tally_reset(void)
{
	for (int i = 0; i < HU_TALLY_WAYS; i++) {
		atomic_store(&terms[i], 0);
		atomic_store(&sums[i], 0);
	}
	atomic_store(&judged, 0);
}

void
hu_exact_count(int way, uint64_t n, uint64_t k)
{
	if (!n)
		return;
	atomic_fetch_add_explicit(&terms[way], n * k, memory_order_relaxed);
	atomic_fetch_add_explicit(&sums[way], n, memory_order_relaxed);
}

void
hu_exact_count_judged(uint64_t n)
{
	atomic_fetch_add_explicit(&judged, n, memory_order_relaxed);
}
