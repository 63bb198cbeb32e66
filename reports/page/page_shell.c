/* SPDX-License-Identifier: Apache-2.0
   What every page of a report has around its sections: the head with the style sheets, and the script at its end. The
   page's own policy lets a browser fetch nothing. */
#include "reports/page/page_parts.h"

#include "reports/figure.h"
#include "reports/human.h"

#include <stdlib.h>

/* Appends a file of reports/ as the content of an element. */
static hu_status
inlined(hu_str *b, const char *name)
{
	char *text;
	size_t n;

	HU_TRY(hu_report_source(name, &text, &n));
	hu_str_addn(b, text, n);
	free(text);
	return HU_OK;
}

hu_status
hu_page_open(hu_str *b, const char *title, const char *style)
{
	hu_str_add(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
		      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	hu_html_text(b, title);
	hu_str_add(b, " – halfulp report</title>\n<style>\n");
	HU_TRY(inlined(b, "page/page.css"));
	if (style)
		HU_TRY(inlined(b, style));
	hu_str_add(b, "</style>\n</head>\n<body>\n<main>\n");
	return HU_OK;
}

hu_status
hu_page_close(hu_str *b)
{
	hu_str_add(b, "</main>\n<script>\n");
	HU_TRY(inlined(b, "page/page.js"));
	hu_str_add(b, "</script>\n</body>\n</html>\n");
	return HU_OK;
}
