/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/model/model_value.h"

#include "lib/base/mem.h"
#include "reports/human.h"

#include <math.h>
#include <stdlib.h>

double
hu_model_number(const json_t *o, const char *key)
{
	const json_t *x = json_object_get(o, key);

	return json_is_number(x) ? json_number_value(x) : NAN;
}

const char *
hu_model_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

void
hu_model_figure(hu_str *b, const char *format, double x)
{
	char *text = isnan(x) ? hu_xstrdup("–") : hu_xprintf(format, x);

	hu_html_number(b, text);
	free(text);
}
