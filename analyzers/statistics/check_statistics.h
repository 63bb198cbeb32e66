/* SPDX-License-Identifier: Apache-2.0
   What check does in statistics mode. */
#ifndef HU_ANALYZERS_CHECK_STATISTICS_H
#define HU_ANALYZERS_CHECK_STATISTICS_H

#include "lib/base/console/opt.h"

/* check RUN... --baseline FILE --bless --statistics --reason TEXT; the exit code. */
int hu_bless_statistics(const hu_args *a);
/* check RUN... --baseline FILE, where FILE is such a baseline; the exit code. FORMAT: tap, junit or json. */
int hu_check_statistics(const hu_args *a, const char *format);
#endif
