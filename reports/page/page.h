/* SPDX-License-Identifier: Apache-2.0
   The report's page: one static index.html that contains its style and its pictures and loads nothing. Text from runs
   is escaped. */
#ifndef HU_REPORTS_PAGE_H
#define HU_REPORTS_PAGE_H

#include "reports/figure.h"

/* Writes the whole page into *out. formats are the figures' file endings ("svg png"); command is the line that made it;
   dir is where the figures have been drawn. */
hu_status hu_page(hu_str *out, const hu_report_runs *runs, const hu_figures *figures, const char *formats,
	const char *command, const char *dir);

#endif
