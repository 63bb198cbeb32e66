/* SPDX-License-Identifier: Apache-2.0
   The training loop: step, observe, trace, commit, evaluate, checkpoint. */
#ifndef HU_TRAINER_LOOP_H
#define HU_TRAINER_LOOP_H

#include "trainer/energy/account.h"
#include "trainer/record/record.h"

/* From step `from` to the session's last. talk: one line an epoch on standard output, and on
   standard error one for every step that was skipped or moved the loss scale. *last: the
   last row. energy is read around each step; its meter may be NULL. A failure leaves the last checkpoint and what
   belongs to it. */
hu_status hu_loop_run(
	hu_session *s, hu_record *r, hu_metrics *m, size_t from, int talk, hu_account *energy, hu_metrics_row *last);
#endif
