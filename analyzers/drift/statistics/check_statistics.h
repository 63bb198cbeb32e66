/* SPDX-License-Identifier: Apache-2.0
   What check does in statistics mode. */
#ifndef HU_ANALYZERS_CHECK_STATISTICS_H
#define HU_ANALYZERS_CHECK_STATISTICS_H

#include "analyzers/drift/baseline/baseline.h"
#include "lib/base/console/opt.h"

/* Records the statistics of A's RUNs in the file PATH, with --reason, and returns the exit code. */
int hu_statistics_record(const hu_args *a, const char *path);
/* Does what check RUN... --baseline FILE asks for, where FILE is such a baseline, and returns the exit code.
   `format` is tap, junit or json. */
int hu_check_statistics(const hu_args *a, const char *format);
/* For this folder: the first of the candidates is of the model and data of OF, and of its policy unless ANY_POLICY;
   else HU_EFILE. *WHY, to be freed, has a line for each setting that differs. */
hu_status hu_statistics_environment(const hu_args *a, const hu_baseline *of, int any_policy, char **why);
#endif
