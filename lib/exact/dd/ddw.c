/* SPDX-License-Identifier: Apache-2.0
   Elementary functions, steps and comparisons of several double-doubles at a time. */
#include "lib/exact/dd/ddw.h"

#include "lib/exact/dd/dd_erf.h"
#include "lib/exact/dd/dd_exp.h"
#include "lib/number/elementary/elementary.h"

#ifdef HU_DDW
#define HU_DDW_EACH "lib/exact/dd/ddw_elementary.inc"
#include "lib/exact/dd/ddw_each.h"
#define HU_DDW_EACH "lib/exact/dd/ddw_step.inc"
#include "lib/exact/dd/ddw_each.h"
#endif
