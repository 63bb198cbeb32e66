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

/* Σ of N products P, each a power of two times what is left, from C; NaN where an operand is no value of S's formats. */
double hu_probe_sum(hu_sum s, const double *p, size_t n, double c);

/* S resolved, a tc model or the chain that fp64 is (with CHAIN's row). Fills OUT with at most HU_PROBES answers and
   returns how many; probes whose operands the model does not have are left out. */
size_t hu_probe_table(hu_sum s, hu_tc t, hu_probe *out);
#endif
