/* SPDX-License-Identifier: Apache-2.0
   What a process inherits from the one that started it, and cannot work with. */
#ifndef HU_BASE_INHERITED_H
#define HU_BASE_INHERITED_H

/* Makes good what was inherited; main calls it before anything opens a file or starts a process.
   Standard streams that were closed (`>&-`): the next file that is opened would have their number, and what is printed
   would stand in that file. Each is opened so that standard input cannot be read and standard output cannot be written,
   which commands tell as failures, and so that what is written to standard error is dropped.
   SIGCHLD that is ignored, as some daemons hand it on: the system then forgets how processes ended that this one
   starts, and whoever waits for them would take a failure for none.
   Ends the program with exit 4 where a stream is closed and /dev/null cannot be opened. */
void hu_inherited_settle(void);
#endif
