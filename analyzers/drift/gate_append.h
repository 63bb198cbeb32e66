/* SPDX-License-Identifier: Apache-2.0
   Appending to a summary that jobs share. */
#ifndef HU_ANALYZERS_GATE_APPEND_H
#define HU_ANALYZERS_GATE_APPEND_H

#include "lib/base/status.h"

#include <stddef.h>

/* Appends n bytes of text to the file PATH. Where not all of it can be written, what was is taken back, and the status
   is HU_EIO. */
hu_status hu_gate_append(const char *path, const char *text, size_t n);
#endif
