/* SPDX-License-Identifier: Apache-2.0
   Series of terms by name, for experiments with sums. */
#ifndef HU_ANALYZERS_TERMS_H
#define HU_ANALYZERS_TERMS_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* n terms by spec, in double: harmonic (1/k), ones, constant:C, uniform:A,B, normal:MEAN,SD, or a
   file of the first n numbers, *n becoming fewer where it has fewer. Random ones are a pure function
   of seed and option, the option that spec was given by. *out is the caller's. HU_EINVAL names what
   is not understood, HU_EFILE what is wrong with a file. */
hu_status hu_terms(const char *option, const char *spec, uint64_t seed, size_t *n, double **out);
#endif
