/* SPDX-License-Identifier: Apache-2.0
   The outputs that left their call's error bound, and the table faults.tsv, which names them, worst first. */
#ifndef HU_ANALYZERS_FAULTS_H
#define HU_ANALYZERS_FAULTS_H

#include "analyzers/run/analyzer.h"

typedef struct hu_fault { size_t step, element; int call, tensor; double got, exact, ulps, bound_ulps; } hu_fault;
typedef struct hu_faults { hu_fault *f; size_t n, cap; } hu_faults;

/* Adds an element of tensor id; bound is that of |got - exact|. */
void hu_fault_note(hu_faults *all, const hu_analysis *a, size_t step, int id, size_t element, double got, double exact,
	double ulps, double bound);
/* Packs the faults of one tensor, worst first, or unpacks them and adds them to all. */
void hu_faults_pack(hu_pack *r, hu_faults *all, const hu_program *p, size_t step, int id);
/* Writes faults.tsv and sets a->over_bound. */
hu_status hu_faults_write(hu_analysis *a, hu_faults *all);
#endif
