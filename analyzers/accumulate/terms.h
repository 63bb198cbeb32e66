/* SPDX-License-Identifier: Apache-2.0
   Makes series of terms from their names, for experiments with sums. */
#ifndef HU_ANALYZERS_TERMS_H
#define HU_ANALYZERS_TERMS_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Makes the *n terms that spec describes, in double: harmonic (1/k), ones, constant:C, uniform:A,B, normal:MEAN,SD, or
   the first numbers of a file, in which case *n decreases where the file has fewer. Random terms depend on seed and on
   option, the option that spec was given by, alone. The caller frees *out. HU_EINVAL names what is not understood,
   HU_EFILE what is wrong with a file. */
hu_status hu_terms(const char *option, const char *spec, uint64_t seed, size_t *n, double **out);
#endif
