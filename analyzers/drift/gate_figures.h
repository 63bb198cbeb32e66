/* SPDX-License-Identifier: Apache-2.0
   Three figures of a drift, for the summary of a failed gate. */
#ifndef HU_ANALYZERS_GATE_FIGURES_H
#define HU_ANALYZERS_GATE_FIGURES_H

#include "lib/base/str.h"

/* Draws RUN/gate/NAME.svg from CHECK, what `halfulp check --format json` wrote of a run and its baseline, and appends
   Markdown that shows them: losses and scores over steps, errors of calls, the quantities that moved most, baseline
   and run. Figures without numbers are left out. Data and script lie beside each. Where gnuplot is not there, or RUN
   cannot be written, the Markdown says that no figure was drawn. */
void hu_gate_figures(hu_str *s, const char *run, const char *check);

/* Writes SCRIPT to DIR/NAME and runs gnuplot on it in DIR. 1 where it drew; 0 where gnuplot is not there, failed, or
   nothing could be written. */
int hu_gate_draw(const char *dir, const char *name, const char *script);
#endif
