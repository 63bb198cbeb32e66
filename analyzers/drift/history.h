/* SPDX-License-Identifier: Apache-2.0
   The headline quantities of a run commit by commit: what check --history keeps, draws and says of them. */
#ifndef HU_ANALYZERS_HISTORY_H
#define HU_ANALYZERS_HISTORY_H

#include "analyzers/drift/baseline/baseline.h"
#include "lib/base/str.h"

/* Adds the rows of B that stand first in a baseline to DIR/history.tsv (columns commit, date, quantity, value, and the
   limits low and high of the baseline WANT), in the place of those of the same commit, and all others that WANT holds
   to limits to DIR/gated.tsv, with the step and the call that they are of; the folder is made. The commit is
   $GITHUB_SHA, $CI_COMMIT_SHA or the one that is checked out around the working directory; HU_EFILE where there is none
   or the table is not one of these. Then appends lines to S: how many commits there are; for each quantity with a
   change point its commit and both means; for each share of what was lost that has only grown, in how many commits it
   would reach one half at its pace. The change point is the split into two runs of commits that leaves the least sum of
   squares within them; it is told where nothing is left, or where the F statistic of the split, with 1 and n - 2
   degrees of freedom, is above
   30. DIR/history.svg shows the quantities that moved, where gnuplot is there. */
hu_status hu_history_add(hu_str *s, const hu_baseline *b, const hu_baseline *want, const char *dir);
#endif
