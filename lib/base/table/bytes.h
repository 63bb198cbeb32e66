/* SPDX-License-Identifier: Apache-2.0
   Sizes of memory as people read them. */
#ifndef HU_BASE_TABLE_BYTES_H
#define HU_BASE_TABLE_BYTES_H

#include <stddef.h>

/* Writes a text such as "1.2 MB" into `out`, of at least 16 bytes, and returns `out`. */
const char *hu_bytes_text(double bytes, char *out, size_t size);
#endif
