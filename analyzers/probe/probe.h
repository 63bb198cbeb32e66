/* SPDX-License-Identifier: Apache-2.0
   Probes are small sums whose results tell matrix units apart. Here the probes of papers are applied to a model and
   compared with the values that were tabled for its architecture: Fasi et al. 2021, Li et al. 2024 (FTTN), arXiv
   2510.15884 and 2511.10909. */
#ifndef HU_ANALYZERS_PROBE_H
#define HU_ANALYZERS_PROBE_H

#include "lib/sum/table/model.h"

typedef enum hu_probe_result { HU_PROBE_PASS, HU_PROBE_FAIL, HU_PROBE_OPEN } hu_probe_result;

/* got and want are texts, hex floats where they are one number. HU_PROBE_OPEN says that nobody tabled a value. */
typedef struct hu_probe { char name[32], what[96], got[64], want[64]; hu_probe_result result; } hu_probe;

enum { HU_PROBES = 64 };

/* What is probed: a model, or a device's matrix unit. s is its resolved model. most is the number of products in an
   instruction, 0 where it is the model's block length; a longer sum is a chain of instructions. dot returns Σ a b
   started from c, a NaN with the hardware's code. payload returns 1 times tf32's word 0x7f800001, a NaN whose payload
   is lost when the word is cut to tf32. */
typedef struct hu_probe_unit hu_probe_unit;
struct hu_probe_unit {
	hu_sum s;
	int most;
	double (*dot)(const hu_probe_unit *u, const double *a, const double *b, size_t n, double c);
	double (*payload)(const hu_probe_unit *u);
	void *of;
};

/* Makes a unit of model s, a tensor core or the chain of fused multiply-adds that fp64 is. */
hu_probe_unit hu_probe_model(hu_sum s, int most);

/* Applies every probe to u, whose model is row t (CHAIN for a chain). Fills `out` with at most HU_PROBES answers and
   returns how many; probes whose operands the model cannot represent are left out. */
size_t hu_probe_table(const hu_probe_unit *u, hu_tc t, hu_probe *out);
#endif
