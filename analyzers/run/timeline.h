/* SPDX-License-Identifier: Apache-2.0
   The scales that other rules would have taken on a recorded run, without training
   again. What the recorded gradients cannot tell is marked unknown. */
#ifndef HU_ANALYZERS_TIMELINE_H
#define HU_ANALYZERS_TIMELINE_H

#include "analyzers/run/analyzer.h"

/* Writes RUN/analysis/loss-scale-timeline.tsv from metrics.tsv and grads.tsv; nothing where the run has neither. */
hu_status hu_timeline_write(hu_analysis *a);
#endif
