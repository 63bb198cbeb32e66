/* SPDX-License-Identifier: Apache-2.0
   Pictures of commands: the options --svg, --png, --pdf and --tex of every command that has rows in pictures.def. The
   command runs in a process of its own and prints JSON, which a gnuplot script draws. */
#ifndef HU_REPORTS_PICTURE_H
#define HU_REPORTS_PICTURE_H

#include "lib/base/console/addition.h"

/* The options, for hu_command_add. */
extern const hu_command_addition hu_pictures;
#endif
