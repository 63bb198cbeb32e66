/* SPDX-License-Identifier: Apache-2.0
   The loss scales that other rules would have chosen on a recorded run, without training again. What cannot be told
   from the recorded gradients is marked unknown. */
#ifndef HU_ANALYZERS_TIMELINE_H
#define HU_ANALYZERS_TIMELINE_H

#include "analyzers/run/analyzer.h"

/* Writes the run's analysis/loss-scale-timeline.tsv from metrics.tsv and grads.tsv; writes nothing where the run lacks
   them. */
hu_status hu_timeline_write(hu_analysis *a);
#endif
