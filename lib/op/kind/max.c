/* SPDX-License-Identifier: Apache-2.0
   max: y = the larger of a and b, NaN if either is NaN; +0 counts as larger than -0. */
#include "lib/op/element/extreme.h"

HU_EXTREME_OP(max, "the larger of two tensors' elements", "i0 i1 d0", "i1 i0 d0");
