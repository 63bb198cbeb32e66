/* SPDX-License-Identifier: Apache-2.0
   Reads JSON files, and refuses names that would have to be escaped in print. */
#ifndef HU_BASE_SHOW_JSON_H
#define HU_BASE_SHOW_JSON_H

#include "lib/base/status.h"

#include <jansson.h>
#include <stdio.h>

/* Returns HU_EFILE where any key or string in j is not plain (show.h). name is the file that j was read from. */
hu_status hu_json_plain(const json_t *j, const char *name);
/* Reads a file of JSON, in which no key may stand twice in an object; the caller ends *j by json_decref. HU_EFILE says
   the line of the error; HU_EIO where the system could not read the file. */
hu_status hu_json_read(const char *path, json_t **j);
/* json_dumpf. What cannot be written, such as an object that lacks memory or a name that is no UTF-8, is remembered
   (lib/base/failed.h), so that the command does not end well without it. */
void hu_json_write(const json_t *j, FILE *f, size_t flags);
#endif
