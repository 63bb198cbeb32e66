/* SPDX-License-Identifier: Apache-2.0
   The exercise: a few more steps made so that what seldom happens does happen, a step that is skipped because a
   gradient overflowed and a loss scale that grows, for a baseline to hold them as well. */
#ifndef HU_TRAINER_EXERCISE_H
#define HU_TRAINER_EXERCISE_H

#include "trainer/run/config.h"

/* HU_EINVAL where a training by c has no loss scale, so that no step of it is ever skipped. */
hu_status hu_exercise_possible(const hu_config *c);
/* Trains RUN/exercise, a run of its own, from the first weights of the run in dir, whose finished manifest is given:
   48 steps by the same configuration, but with a growth interval of 2 and a first loss scale that is 2^13 times the
   largest power of two of the compute format (at most 2^120), or the rule's cap. The scale is halved until the
   gradients are finite and then grows every second step, until they overflow again. Nothing is traced. A finished
   exercise that is there already is left as it is. */
hu_status hu_exercise_run(const json_t *manifest, const char *dir);
#endif
