/* SPDX-License-Identifier: Apache-2.0
   What the exact engine's own files share: the counts, and what happens where MPFR disagrees with it; the judges above
   it say so in the same way. */
#ifndef HU_EXACT_JUDGE_H
#define HU_EXACT_JUDGE_H

#include "lib/base/status.h"

#include <mpfr.h>
#include <stddef.h>
#include <stdint.h>

/* What happens wherever MPFR checks a faster method and the two differ: prints the text as one line of warning and
   counts it. Nothing that either of them said of that call can be trusted, so whoever asked for it compares
   hu_exact_disagreements() before and after, and gives the call no verdict; all other calls keep theirs. At most
   HU_TELL disagreements of a process are printed, details (hu_exact_tells_details, asked before) of the first one
   alone. Several threads may call it at once. */
enum { HU_TELL = 8 };
void hu_mpfr_disagrees(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int hu_exact_tells_details(void);
/* How many there were so far in this process. */
unsigned long long hu_exact_disagreements(void);

/* The status of a call for which there were `before` disagreements at first: HU_EUNABLE, with a reason that names
   `what`, where one came meanwhile; st where st is a failure or none came. */
hu_status hu_exact_agreed(hu_status st, unsigned long long before, const char *what, int call);

/* The same for the sum of n products: prints the operands and both sums. */
void hu_exact_disagree(const mpfr_t ours, const mpfr_t oracle, const double *a, const double *b, size_t n);

/* The ways that hu_exact_tally_get counts. */
enum { HU_TALLY_ONE, HU_TALLY_TWO, HU_TALLY_MORE, HU_TALLY_INTEGERS, HU_TALLY_BLAS, HU_TALLY_MPFR, HU_TALLY_WAYS };
/* Counts n sums of k terms each, computed in one of these ways; n sums that MPFR checked. */
void hu_exact_count(int way, uint64_t n, uint64_t k);
void hu_exact_count_judged(uint64_t n);
void hu_exact_tally_reset(void);
#endif
