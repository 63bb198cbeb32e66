/* SPDX-License-Identifier: Apache-2.0
   Text for LaTeX. */
#ifndef HU_REPORTS_TEX_H
#define HU_REPORTS_TEX_H

#include "lib/base/str.h"

/* Appends text with TeX's special characters escaped, and with those that its fonts lack as mathematics. */
void hu_tex_text(hu_str *b, const char *text);
#endif
