/* SPDX-License-Identifier: Apache-2.0
   The probes by which papers tell matrix units apart, put to a model, beside the values that were tabled
   for its architecture: Fasi et al. 2021, Li et al. 2024 (FTTN), arXiv 2510.15884 and 2511.10909. */
#ifndef HU_ANALYZERS_PROBE_H
#define HU_ANALYZERS_PROBE_H

#include "lib/sum/model.h"

typedef enum hu_probe_verdict { HU_PROBE_PASS, HU_PROBE_FAIL, HU_PROBE_OPEN } hu_probe_verdict;

/* got and want: texts, hex floats where they are one number. open: nobody tabled a value. */
typedef struct hu_probe { char name[32], what[96], got[64], want[64]; hu_probe_verdict verdict; } hu_probe;

enum { HU_PROBES = 64 };

/* What answers: a model, or a device's matrix unit. s: resolved, what it is or should be. most: products in an
   instruction; longer sums are a chain of them, so that no block is longer; 0: as long as the model's. dot: Σ a b from
   c, NaN with the hardware's code. payload: tf32's word 0x7f800001, a NaN whose payload the chop takes away, times 1.
 */
typedef struct hu_probe_unit hu_probe_unit;
struct hu_probe_unit {
	hu_sum s;
	int most;
	double (*dot)(const hu_probe_unit *u, const double *a, const double *b, size_t n, double c);
	double (*payload)(const hu_probe_unit *u);
	void *of;
};

/* s, a tc model or the chain that fp64 is. */
hu_probe_unit hu_probe_model(hu_sum s, int most);

/* Σ of n products p, each a power of two times what is left, from c; NaN where an operand is no value of u's formats.
 */
double hu_probe_sum(const hu_probe_unit *u, const double *p, size_t n, double c);

/* u's model with t its row (a chain has CHAIN's). Fills `out` with at most HU_PROBES answers and
   returns how many; probes whose operands the model does not have are left out. */
size_t hu_probe_table(const hu_probe_unit *u, hu_tc t, hu_probe *out);
#endif
