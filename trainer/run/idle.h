/* SPDX-License-Identifier: Apache-2.0
   Finds options that have no effect in a training. A command that makes several trainings, for example under several
   policies, refuses an option only where it has an effect in none of them. */
#ifndef HU_TRAINER_IDLE_H
#define HU_TRAINER_IDLE_H

#include "trainer/run/config.h"

/* Returns why option has no effect in a training by c, which is settled; NULL where it has one. The caller frees the
   text. */
char *hu_config_idle(const hu_config *c, const char *option);

/* Sets *reads to a function that tells of a key, by its name in the option table, whether the row of the option's kind
   reads it: "optimizer", "adamw". HU_EINVAL where there is no such row. */
hu_status hu_idle_keys(const char *option, const char *row, int (**reads)(const char *name));

/* For each option on the line: why it had no effect in the trainings so far; NULL where it had one. */
typedef struct hu_idle { const hu_args *a; char **why; int *used; } hu_idle;

void hu_idle_init(hu_idle *i, const hu_args *a);
/* Tells i that the line asks for a training by c. */
void hu_idle_add(hu_idle *i, const hu_config *c);
/* Releases i. HU_EINVAL names an option that had no effect in any of the trainings added. */
hu_status hu_idle_end(hu_idle *i);

/* All three at once, for a single training by c. */
hu_status hu_idle_refuse(const hu_args *a, const hu_config *c);

/* Returns HU_EINVAL where a pattern of c's no_decay fits no parameter of `train`, c's training program, or one of
   --trace or --count none of its tensors: it is misspelt, or meant for another model, and changes nothing. The reason
   names it. A run that is resumed or verified is not asked: its command line was accepted once. */
hu_status hu_idle_patterns(const hu_config *c, const hu_program *train);
/* The same of n runs' programs: a pattern fits where it fits one of them. */
hu_status hu_idle_patterns_among(const hu_config *c, const hu_program *const *train, int n);
/* Returns those of the patterns of --OPTION that fit the program, separated by commas; the caller frees the text. */
char *hu_idle_fitting(const char *option, const char *patterns, const hu_program *train);
#endif
