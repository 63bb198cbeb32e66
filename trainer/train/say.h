/* SPDX-License-Identifier: Apache-2.0
   What the command train prints for people before and after the steps. */
#ifndef HU_TRAINER_SAY_H
#define HU_TRAINER_SAY_H

#include "trainer/record/record.h"
#include "trainer/run/session.h"

/* The policy's formats, Keras's message for it, and what holds for the chosen back end. */
void hu_say_dtypes(const hu_config *c);
/* Model, data, memory and traced steps of a training that begins, or goes on at step `from` if resumed is set. */
void hu_say_start(const hu_config *c, const hu_session *s, const hu_record *r, int resumed, size_t from);
/* The result after all steps, as JSON or as text with the energy that the manifest tells. m has the rows of the steps
   that were made now, r is the last. */
void hu_say_end(const char *dir, size_t steps, const hu_metrics *m, const hu_metrics_row *r, const json_t *manifest,
	int json);
#endif
