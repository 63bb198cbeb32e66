/* SPDX-License-Identifier: Apache-2.0
   What the sections of a model's page take from the objects of validate and advise, and figures as the page shows
   them; for this folder alone. */
#ifndef HU_REPORTS_MODEL_VALUE_H
#define HU_REPORTS_MODEL_VALUE_H

#include "lib/base/str.h"

#include <jansson.h>

/* Returns the number at a key of o; NaN where there is none. */
double hu_model_number(const json_t *o, const char *key);
/* Returns the count at a key of a node's row as a share of its operands, in percent; NaN where either is missing. */
double hu_model_share(const json_t *row, const char *key);
/* Returns the text at a key; "" where there is none. */
const char *hu_model_text(const json_t *o, const char *key);
/* Appends x by a format of printf for one double, or "–" where x is NaN. */
void hu_model_figure(hu_str *b, const char *format, double x);
/* Appends the error at a key of o in three digits, or that it is not finite. */
void hu_model_error(hu_str *b, const json_t *o, const char *key);
#endif
