/* SPDX-License-Identifier: Apache-2.0
   What the rows of tc.def rest on, in words. These functions are for the host alone. */
#ifndef HU_SUM_TC_STATUS_H
#define HU_SUM_TC_STATUS_H

#include "lib/sum/tc/tc.h"

/* Returns what the status column of row t says for output format `out`, such as "equals published vectors"; "-"
   where there is no such output. */
const char *hu_tc_status(hu_tc t, hu_format_id out);
/* Returns the row's last column: whose vectors were compared, or who says so. NULL where there is no such row. */
const char *hu_tc_source(hu_tc t);
#endif
