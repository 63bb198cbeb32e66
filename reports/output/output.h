/* SPDX-License-Identifier: Apache-2.0
   The option -o of every command that has --json: it runs the command in a process of its own and writes what it
   prints into files, as rows (reports/rows/tables.h) or drawn (reports/pictures/picture.h). */
#ifndef HU_REPORTS_OUTPUT_H
#define HU_REPORTS_OUTPUT_H

#include "lib/base/console/addition.h"

/* -o with how rows are chosen, and of the commands that have pictures how these look; for hu_command_add. */
extern const hu_command_addition hu_output_rows, hu_output_pictures;
#endif
