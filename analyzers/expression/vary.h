/* SPDX-License-Identifier: Apache-2.0
   A name in an expression that stands for many numbers in turn, for curves: --vary x=A..B:N[,log]. */
#ifndef HU_ANALYZERS_VARY_H
#define HU_ANALYZERS_VARY_H

#include "lib/base/status.h"

enum { HU_VARY_MOST = 10000 }; /* most numbers that a name may stand for */

typedef struct hu_vary {
	char name[16];
	double from, to;
	int n, log;
} hu_vary;

/* Reads x=A..B:N, N numbers from A to B in equal steps, or with ",log" behind it in equal ratios, for which A and B are
   above 0. The name is of letters and is none that expressions know. HU_EINVAL says what is wrong. */
hu_status hu_vary_parse(hu_vary *v, const char *text);

/* Returns number i, from 0: the first and the last are A and B. Where the ratio of two numbers is a root of 2 and A is
   a power of two, every power of two between them is among them. */
double hu_vary_at(const hu_vary *v, int i);

/* Returns the expression with every word that is the name replaced by x in brackets, as a hex float. The caller frees
   it. */
char *hu_vary_put(const hu_vary *v, const char *expression, double x);
#endif
