/* SPDX-License-Identifier: Apache-2.0
   Tables of commands: the option --export of every command that has --json. The command runs in a process of its own
   and prints JSON, whose rows are written as LaTeX, Markdown or TSV. */
#ifndef HU_REPORTS_TABLES_H
#define HU_REPORTS_TABLES_H

#include "lib/base/console/addition.h"

/* The options, for hu_command_add. */
extern const hu_command_addition hu_tables;
#endif
