/* SPDX-License-Identifier: Apache-2.0
   Refuses JSON whose names would have to be escaped to be printed. */
#ifndef HU_BASE_SHOW_JSON_H
#define HU_BASE_SHOW_JSON_H

#include "lib/base/status.h"

#include <jansson.h>

/* HU_EFILE where a key or a string anywhere in J, read from the file NAME, is not plain. */
hu_status hu_json_plain(const json_t *j, const char *name);
#endif
