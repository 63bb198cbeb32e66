/* SPDX-License-Identifier: Apache-2.0
   In a training without a finite check, the first call of a step that made a number that is not finite. */
#ifndef HU_TRAINER_ORIGIN_H
#define HU_TRAINER_ORIGIN_H

#include "trainer/record/metrics.h"

/* Fills in the overflow of r where the step's loss, gradients or new weights are not finite and no check has named a
   tensor: the first call in the program's order whose operands are finite and whose result is not, that result, and how
   many of its elements are not finite. Nothing where the back end keeps its tensors elsewhere. */
void hu_origin_observe(hu_session *s, hu_metrics_row *r);
#endif
