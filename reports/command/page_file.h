/* SPDX-License-Identifier: Apache-2.0
   Where a page is written that has its pictures in itself: a file, or index.html in a folder. */
#ifndef HU_REPORTS_PAGE_FILE_H
#define HU_REPORTS_PAGE_FILE_H
#include "lib/base/status.h"
#include "lib/base/str.h"

/* 1 where OUT, which may be NULL, is more than the suffix and ends in it. */
int hu_page_file_ends(const char *out, const char *suffix);
/* HU_EINVAL where OUT names a file of this suffix and WHAT, a whole sentence, says why that cannot be. */
hu_status hu_page_file_refuse(const char *out, const char *suffix, const char *what);
/* Writes PAGE to OUT where that ends in .html, else to OUT/index.html in a folder that is made, and prints where the
   page of WHAT is, as JSON where that is asked for. */
hu_status hu_page_file_write(const hu_str *page, const char *out, const char *what, int json);
#endif
