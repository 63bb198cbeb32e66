/* SPDX-License-Identifier: Apache-2.0
   Pictures of commands that have rows in pictures.def. The command runs in a process of its own and prints JSON, which
   a gnuplot script draws. */
#ifndef HU_REPORTS_PICTURE_H
#define HU_REPORTS_PICTURE_H

#include "reports/rows/outputs.h"

/* Returns 1 where the command has a picture. */
int hu_picture_has(const hu_command *c);
/* Draws those of the files that are pictures, and prints their names and what they show; where --json was given, it
   prints the JSON in place of that if `says`. *code is how the command ended; where it failed, it has said so and
   nothing is drawn. */
hu_status hu_picture_make(const hu_command *c, const hu_args *a, const hu_outputs *files, int says, int *code);
#endif
