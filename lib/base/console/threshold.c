/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/threshold.h"

#include "lib/base/console/opt.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
hu_threshold_number(const char *text)
{
	return text + 1 + (text[1] == '=');
}

int
hu_threshold_read(hu_threshold *l, const char *text)
{
	char *number = hu_xstrdup(hu_threshold_number(text));
	size_t n = strlen(number);

	*l = (hu_threshold){ .least = *text == '>', .open = text[1] != '=', .percent = n && number[n - 1] == '%' };
	if (l->percent)
		number[n - 1] = 0;
	int good = hu_parse_real(number, &l->value) && !isnan(l->value);
	free(number);
	return good;
}

hu_threshold
hu_threshold_most(double value)
{
	return (hu_threshold){ .value = value };
}

hu_threshold
hu_threshold_least(double value)
{
	return (hu_threshold){ .value = value, .least = 1 };
}

int
hu_threshold_keeps(hu_threshold l, double x)
{
	return (!l.open && x == l.value) || (l.least ? x > l.value : x < l.value);
}
