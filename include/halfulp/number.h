/* SPDX-License-Identifier: Apache-2.0
   halfulp's numbers for other programs: formats, rounding, codes, correctly
   rounded arithmetic, arrays, block formats, random bits, errors in ulps.
   Compile with the flags of `pkg-config --cflags --libs halfulp-number`, in C11 or
   C++17. Results are for C's own float environment, to nearest with subnormals. */
#ifndef HALFULP_NUMBER_H
#define HALFULP_NUMBER_H

#if defined(__FAST_MATH__)
#error "halfulp's numbers need IEEE arithmetic: compile without -ffast-math (-Ofast)"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "lib/base/status.h"
#include "lib/number/arith.h"
#include "lib/number/block/block.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/code.h"
#include "lib/number/count.h"
#include "lib/number/draw.h"
#include "lib/number/elementary/elementary.h"
#include "lib/number/elementary/elementary_round.h"
#include "lib/number/format.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/number/simd.h"
#include "lib/number/ulp.h"

#ifdef __cplusplus
}
#endif
#endif
