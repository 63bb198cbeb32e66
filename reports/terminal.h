/* SPDX-License-Identifier: Apache-2.0
   The report as text, for people on a server: it needs no gnuplot and writes no files. */
#ifndef HU_REPORTS_TERMINAL_H
#define HU_REPORTS_TERMINAL_H

#include "reports/figure.h"

/* Prints verdicts, numbers, curves and bars on standard output; 80 columns, UTF-8. */
hu_status hu_terminal(const hu_report_runs *runs, const hu_figures *figures);
#endif
