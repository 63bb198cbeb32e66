/* SPDX-License-Identifier: Apache-2.0
   Refuses JSON with names that would have to be escaped in print. */
#ifndef HU_BASE_SHOW_JSON_H
#define HU_BASE_SHOW_JSON_H

#include "lib/base/status.h"

#include <jansson.h>

/* Returns HU_EFILE where any key or string in j is not plain (show.h). name is the file that j was read from. */
hu_status hu_json_plain(const json_t *j, const char *name);
#endif
