/* SPDX-License-Identifier: Apache-2.0
   A device's passes in words, and the table kernels.tsv of what each of them launches. */
#ifndef HU_TRAINER_PASSES_H
#define HU_TRAINER_PASSES_H

#include "lib/base/str.h"
#include "trainer/run/session.h"

/* Adds to covers the ids of the calls whose pass begins with call `first` ("3-5,9"), to ops their operators, each once
   ("bias+relu"). pass: of each call; NULL: each is alone. */
void hu_pass_words(const hu_program *p, const hu_pass *pass, int first, hu_str *covers, hu_str *ops);
/* Of every call of s's training program and of what a step leaves for the host, last; the caller frees. NULL where the
   back end has none. */
hu_pass *hu_passes_of(const hu_session *s);
/* DIR/kernels.tsv, a row a pass in the order of their first calls, then what a step leaves for the host, then the sum;
   nothing where the back end has no passes. After a step, which launches count. */
hu_status hu_passes_write(const hu_session *s, const char *dir);
#endif
