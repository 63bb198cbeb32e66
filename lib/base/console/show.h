/* SPDX-License-Identifier: Apache-2.0
   Names and texts that come from files or from the command line, for terminals, tables and pages: nothing in them may
   move a cursor, begin a line, or turn the direction of what follows. What is said of a name is said through here. */
#ifndef HU_BASE_SHOW_H
#define HU_BASE_SHOW_H

#include "lib/base/str.h"

/* 1 where the text is UTF-8 (shortest form, no surrogates) without control characters: those below U+0020, U+007F to
   U+009F, line and paragraph separators, the marks and overrides of writing direction, U+FEFF. */
int hu_plain(const char *text);
/* Adds TEXT; each character or byte that is not plain as \t, \n, \r, \xNN (a byte) or \uNNNN (a character from U+0080
   on). What is plain stays as it is, also a backslash. */
void hu_str_show(hu_str *b, const char *text);
/* TEXT itself where it is plain; else what hu_str_show makes of it, valid for this thread's next seven calls. NULL for
   NULL. */
const char *hu_shown(const char *text);
#endif
