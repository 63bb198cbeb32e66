/* SPDX-License-Identifier: Apache-2.0
   The page of a model: what validate and advise said of it, as one static index.html that loads nothing. */
#ifndef HU_REPORTS_MODEL_PAGE_H
#define HU_REPORTS_MODEL_PAGE_H

#include "lib/base/status.h"
#include "lib/base/str.h"

/* Returns 1 where DIR has a validation.json or an advice.json. */
int hu_model_page_is(const char *dir);
/* Appends the page of DIR's validation.json and advice.json to *page, which the caller releases; `command` is the line
   that makes it. HU_EFILE where one of them cannot be read or is no such object; *page is then empty. */
hu_status hu_model_page(hu_str *page, const char *dir, const char *command);
/* The same as a block of Markdown for a model card. */
hu_status hu_model_markdown(hu_str *card, const char *dir, const char *command);
#endif
