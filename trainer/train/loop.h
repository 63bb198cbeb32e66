/* SPDX-License-Identifier: Apache-2.0
   The training loop: step, observe, trace, commit, evaluate, checkpoint. */
#ifndef HU_TRAINER_LOOP_H
#define HU_TRAINER_LOOP_H

#include "trainer/energy/account.h"
#include "trainer/record/record.h"

/* Trains from step `from` to the session's last and sets *last to the last row. talk prints a line for each epoch on
   standard output, and on standard error one for each step that was skipped or moved the loss scale. energy is read
   around each step; its meter may be NULL. After a failure the run directory holds the last checkpoint and the rows
   that belong to it. */
hu_status hu_loop_run(
	hu_session *s, hu_record *r, hu_metrics *m, size_t from, int talk, hu_account *energy, hu_metrics_row *last);
#endif
