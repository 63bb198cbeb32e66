/* SPDX-License-Identifier: Apache-2.0
   Runs this program itself with another command line, for figures that are made of what its commands print. */
#ifndef HU_REPORTS_CHILD_H
#define HU_REPORTS_CHILD_H

#include "lib/base/status.h"

#include <stddef.h>

/* Runs the command line, whose first word stands for this program, in the folder `work`. Blanks separate words; '...'
   holds one together. Where data is not NULL, *data receives what it printed, *n bytes and a 0 after them, which the
   caller frees. HU_EUNABLE where it cannot be started or ends with another exit code than 0 – or 1, where data is not
   NULL: the reason names the figure, the command, and the last line of what it said. */
hu_status hu_child(const char *figure, const char *command, const char *work, char **data, size_t *n);
#endif
