/* SPDX-License-Identifier: Apache-2.0
   The page of a history: every quantity that check --history kept, over the commits. */
#ifndef HU_REPORTS_HISTORY_PAGE_H
#define HU_REPORTS_HISTORY_PAGE_H

#include "lib/base/status.h"
#include "lib/base/str.h"

/* Appends the page of DIR's history.tsv to *page, which the caller releases; `command` is the line that makes it.
   HU_EFILE where there is no such table; *page is then empty. */
hu_status hu_history_page(hu_str *page, const char *dir, const char *command);
#endif
