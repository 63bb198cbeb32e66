/* SPDX-License-Identifier: Apache-2.0
   min: y = the smaller of a and b, NaN if either is NaN; -0 counts as smaller than +0. */
#include "lib/op/element/extreme.h"

HU_EXTREME_OP(min, "the smaller of two tensors' elements", "i1 i0 d0", "i0 i1 d0");
