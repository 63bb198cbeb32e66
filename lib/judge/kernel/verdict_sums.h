/* SPDX-License-Identifier: Apache-2.0
   Verdicts on results that are looked at in parts, in any order: what is added up, and the end. */
#ifndef HU_KERNEL_VERDICT_SUMS_H
#define HU_KERNEL_VERDICT_SUMS_H

#include "lib/judge/kernel/verdict.h"

/* The sums behind a verdict on N elements of format F in rows of WIDTH. hu_kernel_sums_end fills v and frees them; its
   worst element is the one that has AT in the result. */
typedef struct hu_kernel_sums hu_kernel_sums;
hu_kernel_sums *hu_kernel_sums_begin(size_t n, size_t width, hu_format f, double confidence);
void hu_kernel_sums_add(hu_kernel_sums *s, size_t at, double got, hu_ball x, hu_ball declared, hu_ball compute);
void hu_kernel_sums_end(hu_kernel_verdict *v, hu_kernel_sums *s);

/* bias.c: the same for the bias alone. compute is the ball of the computation without stores, exact where it is not
   known. */
typedef struct hu_bias_lines hu_bias_lines;
hu_bias_lines *hu_bias_lines_begin(size_t n, size_t width, hu_format f, double lambda);
void hu_bias_lines_add(hu_bias_lines *b, size_t at, double got, hu_ball x, hu_ball declared, hu_ball compute);
hu_bias hu_bias_lines_end(hu_bias_lines *b);
#endif
