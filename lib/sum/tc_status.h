/* SPDX-License-Identifier: Apache-2.0
   What the rows of tc.def rest on, in words: for people alone, so on the host alone. */
#ifndef HU_SUM_TC_STATUS_H
#define HU_SUM_TC_STATUS_H

#include "lib/sum/tc.h"

/* What the column of the row T says of output OUT: "equals published vectors" and the like. "-": no such output. */
const char *hu_tc_status(hu_tc t, hu_format_id out);
/* The row's last column: whose vectors, or who says so. NULL: no such row. */
const char *hu_tc_source(hu_tc t);
#endif
