/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/model/model_value.h"

#include "lib/base/mem.h"
#include "reports/human.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double
hu_model_number(const json_t *o, const char *key)
{
	const json_t *x = json_object_get(o, key);

	if (json_is_string(x)) /* what is not finite is a text */
		return !strcmp(json_string_value(x), "inf")    ? INFINITY
		       : !strcmp(json_string_value(x), "-inf") ? -INFINITY
							       : NAN;
	return json_is_number(x) ? json_number_value(x) : NAN;
}

double
hu_model_share(const json_t *row, const char *key)
{
	return 100 * hu_model_number(row, key) / hu_model_number(row, "operands");
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

void
hu_model_error(hu_str *b, const json_t *node, const char *key)
{
	const json_t *measured = json_object_get(node, key);
	double x = hu_model_number(node, key);

	if (isfinite(x) || !measured || json_is_null(measured))
		hu_model_figure(b, "%.3g", x);
	else
		hu_str_add(b, "not finite");
}
