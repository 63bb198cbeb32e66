/* SPDX-License-Identifier: Apache-2.0
   What the exact engine's own files share: the counts, and the end of a run in which MPFR disagrees with it; the
   judges above it end in the same way. */
#ifndef HU_EXACT_JUDGE_H
#define HU_EXACT_JUDGE_H

#include <mpfr.h>
#include <stddef.h>
#include <stdint.h>

/* What happens wherever MPFR checks a faster method and finds that it is wrong: prints the text and aborts, because
   nothing that either of them said can then be trusted. Write details to standard error before. */
void hu_mpfr_disagrees(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* The same for the sum of n products: prints the operands and both sums. */
void hu_exact_disagree(const mpfr_t ours, const mpfr_t oracle, const double *a, const double *b, size_t n)
	__attribute__((noreturn));

/* The ways that hu_exact_tally_get counts. */
enum { HU_TALLY_ONE, HU_TALLY_TWO, HU_TALLY_MORE, HU_TALLY_INTEGERS, HU_TALLY_BLAS, HU_TALLY_MPFR, HU_TALLY_WAYS };
/* Counts n sums of k terms each, computed in one of these ways; n sums that MPFR checked. */
void hu_exact_count(int way, uint64_t n, uint64_t k);
void hu_exact_count_judged(uint64_t n);
void hu_exact_tally_reset(void);
#endif
