/* SPDX-License-Identifier: Apache-2.0
   What a process says where a signal ends it from outside, so that whoever started it knows what was kept and how to go
   on. */
#ifndef HU_BASE_ENDED_H
#define HU_BASE_ENDED_H

/* From here on SIGTERM, SIGINT and SIGXCPU have the process say this line, given without its end, on standard error
   before they end it as they always do; a signal that is ignored stays so. A line of 1023 bytes or more is cut. NULL:
   nothing is said any more. where: NULL, or the file without which the line would not be true: it is said where that
   file is there when the signal comes. One thread calls it. */
void hu_ended_says(const char *line, const char *where);
#endif
