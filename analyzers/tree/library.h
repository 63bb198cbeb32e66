/* SPDX-License-Identifier: Apache-2.0
   Sums of somebody else's library: functions of a shared object, or a Python package that a process of its own runs
   (python/halfulp_sums.py). */
#ifndef HU_ANALYZERS_LIBRARY_H
#define HU_ANALYZERS_LIBRARY_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* One sum: what it is, and 1 where its terms are doubles, 0 where floats. */
typedef struct hu_library_sum {
	char *what;
	int wide;
} hu_library_sum;

typedef struct hu_library {
	char *title; /* "numpy 2.4.6"; the file's name */
	hu_library_sum *sum;
	size_t n, cap;
	size_t terms;
	void *handle; /* of a shared object; else NULL, and */
	pid_t pid;    /* the process, what it is asked, and what it answers */
	FILE *ask, *answer;
} hu_library;

/* Opens NAME for sums of `terms` terms: numpy, torch or onnxruntime by the Python that the environment variable PYTHON
   names (else python3); openblas, or a shared object's path, for its cblas_sgemm, cblas_dgemm, cblas_sdot and
   cblas_ddot. HU_EUNABLE or HU_EFILE says what is missing; HU_EINVAL that the name is none of these. */
hu_status hu_library_open(hu_library *l, const char *name, size_t terms);
void hu_library_release(hu_library *l);

/* Returns the function whose name is sum i's text; NULL where there is a process. */
void (*hu_library_function(const hu_library *l, size_t i))(void);
/* Asks the process for sum i of the terms. HU_EUNABLE where outputs of the same terms differ, or the process ended. */
hu_status hu_library_ask(hu_library *l, size_t i, const double *terms, double *sum);
#endif
