/* SPDX-License-Identifier: Apache-2.0
   Mapped files that somebody cuts short, or whose disk fails, while they are read. The system then sends SIGBUS; the
   program ends with a line that names the file, and HU_EXIT_ENV. */
#ifndef HU_BASE_CUT_H
#define HU_BASE_CUT_H

#include <stddef.h>

/* Says that the file path is mapped at p, for n bytes; and that it no longer is. */
void hu_cut_watch(const void *p, size_t n, const char *path);
void hu_cut_forget(const void *p);
#endif
