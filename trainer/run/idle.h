/* SPDX-License-Identifier: Apache-2.0
   Which options of a training have no effect in it. A command that makes several, under several policies say,
   refuses an option that has an effect in none of them. */
#ifndef HU_TRAINER_IDLE_H
#define HU_TRAINER_IDLE_H

#include "trainer/run/config.h"

/* Why option has no effect in a training by c, which is settled, or NULL where it has one. Freed by the caller. */
char *hu_config_idle(const hu_config *c, const char *option);

/* Of the options on a line: why each had no effect so far; NULL where it had one. */
typedef struct hu_idle { const hu_args *a; char **why; int *used; } hu_idle;

void hu_idle_init(hu_idle *i, const hu_args *a);
/* A training by c is one that the line asks for. */
void hu_idle_add(hu_idle *i, const hu_config *c);
/* Releases i; HU_EINVAL names an option that had no effect in any training that was added. */
hu_status hu_idle_end(hu_idle *i);

/* The three at once, of the one training by c. */
hu_status hu_idle_refuse(const hu_args *a, const hu_config *c);
#endif
