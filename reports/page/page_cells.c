/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page/page_parts.h"

#include "lib/base/tsv.h"

#include <stdlib.h>
#include <string.h>

void
hu_page_cell(hu_str *b, const char *element, const char *text)
{
	hu_str_addf(b, "<%s>", element);
	hu_html_number(b, text);
	hu_str_addf(b, "</%.*s>", (int)strcspn(element, " "), element);
}

void
hu_page_number(hu_str *b, double x, hu_quantity unit)
{
	char *s = hu_human(x, unit), all[HU_TSV_REAL];

	hu_tsv_real_text(all, x);
	hu_str_addf(b, "<td data-v=\"%s\">", all);
	hu_html_number(b, s);
	hu_str_add(b, "</td>");
	free(s);
}
