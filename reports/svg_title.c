/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/svg_title.h"

#include "lib/base/file.h"
#include "lib/base/str.h"
#include "reports/human.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_svg_title(const char *path, const char *title)
{
	static const char gnuplots[] = "<title>Gnuplot</title>";
	char *text, *at;
	size_t n;
	hu_str s;

	HU_TRY(hu_file_read(path, &text, &n));
	at = strstr(text, gnuplots);
	if (!at) { /* another gnuplot names it otherwise */
		free(text);
		return HU_OK;
	}
	hu_str_init(&s);
	hu_str_addn(&s, text, (size_t)(at - text));
	hu_str_add(&s, "<title>");
	hu_html_text(&s, title);
	hu_str_add(&s, "</title>");
	at += sizeof gnuplots - 1;
	hu_str_addn(&s, at, n - (size_t)(at - text));
	hu_status st = hu_file_write(path, s.s, s.len);
	hu_str_release(&s);
	free(text);
	return st;
}
