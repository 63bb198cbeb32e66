/* SPDX-License-Identifier: Apache-2.0
   Makes names and texts from files or the command line safe to print in terminals, tables and pages: none may move
   the cursor, begin a new line, or reverse the direction of the text after it. Every message that names such a thing
   uses these functions. */
#ifndef HU_BASE_SHOW_H
#define HU_BASE_SHOW_H

#include "lib/base/str.h"

/* Returns 1 where the text is UTF-8 (in its shortest form, without surrogates) and free of control characters: those
   below U+0020, U+007F to U+009F, line and paragraph separators, the marks and overrides of writing direction, and
   U+FEFF. */
int hu_plain(const char *text);
/* Appends the text with every character that is not plain escaped: \t, \n, \r, \xNN for a byte, \uNNNN for a
   character from U+0080 on. Plain characters stay as they are, the backslash too. */
void hu_str_show(hu_str *b, const char *text);
/* Returns the text itself where it is plain, else its escaped form, which stays valid for this thread's next seven
   calls. NULL for NULL. */
const char *hu_shown(const char *text);
/* Appends a word of a command line, in quotes where a shell needs them. */
void hu_show_word(hu_str *b, const char *word);
#endif
