/* SPDX-License-Identifier: Apache-2.0
   A pass is one launch sequence of a device that executes one or several calls. Here passes are put into words, and
   kernels.tsv lists what each of them launches. */
#ifndef HU_TRAINER_PASSES_H
#define HU_TRAINER_PASSES_H

#include "lib/base/str.h"
#include "trainer/run/session.h"

/* Appends to covers the ids of the calls in the pass that begins with call `first` ("3-5,9"), and to ops their
   operators, each once ("bias+relu"). pass has an entry for each call; NULL: each call is a pass. */
void hu_pass_words(const hu_program *p, const hu_pass *pass, int first, hu_str *covers, hu_str *ops);
/* Returns an entry for each call of s's training program and, last, one for what the device reads back for the host;
   the caller frees it. NULL where the back end has no passes. */
hu_pass *hu_passes_of(const hu_session *s);
/* Writes kernels.tsv into dir: a row for each pass in the order of their first calls, then one for what is read back
   for the host, then the sum. Writes nothing where the back end has no passes. To be called after a step, since
   launches are counted as they happen. */
hu_status hu_passes_write(const hu_session *s, const char *dir);
#endif
