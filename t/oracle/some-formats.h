/* SPDX-License-Identifier: Apache-2.0
   The formats that the tests of lib/number go through: every row of the table, every P3109
   format of 8 bits, and others made from names for what the rows lack. */
#ifndef HU_T_SOME_FORMATS_H
#define HU_T_SOME_FORMATS_H

#include "lib/number/format.h"

enum { SOME_FORMATS = 128 };

/* Those of LEAST to MOST code bits into OUT; returns how many. Ends the program where a name is refused. */
int some_formats(hu_format out[SOME_FORMATS], int least, int most);
#endif
