/* SPDX-License-Identifier: Apache-2.0
   What check does in statistics mode. */
#ifndef HU_ANALYZERS_CHECK_STATISTICS_H
#define HU_ANALYZERS_CHECK_STATISTICS_H

#include "lib/base/console/opt.h"

/* Does what check RUN... --baseline FILE --bless --statistics --reason TEXT asks for, and returns the exit code. */
int hu_bless_statistics(const hu_args *a);
/* Does what check RUN... --baseline FILE asks for, where FILE is such a baseline, and returns the exit code.
   `format` is tap, junit or json. */
int hu_check_statistics(const hu_args *a, const char *format);
#endif
