/* SPDX-License-Identifier: Apache-2.0
   Temporary files beside the files that they become. Whoever writes one holds the kernel's lock (flock) on it, so that
   one whose writer was killed is told from one that is being written, on whatever machine. */
#ifndef HU_BASE_TEMPORARY_H
#define HU_BASE_TEMPORARY_H

#include "lib/base/status.h"

/* Makes a new file for writing in the folder that dir is open on: *name, which the caller frees, is LEAF.tmp.N. One of
   such a name whose writer has ended is removed. Returns its open descriptor, or -1 with errno set. The file is removed
   if the program ends for lack of memory or by a library (hu_bug_end). */
int hu_temporary_make(int dir, const char *leaf, char **name);
/* Says that the file `name` has been renamed or removed; for each hu_temporary_make. */
void hu_temporary_done(int dir, const char *name);
/* Makes a new folder IN/.new.N, and removes those whose makers have ended, with what is in them. *path is the
   caller's to free, who empties and removes the folder; hu_temporary_folder_done follows. It is removed at the same
   ends as the files. */
hu_status hu_temporary_folder(char **path, const char *in);
void hu_temporary_folder_done(const char *path);
/* Removes the temporary files in a folder whose writers have ended. A folder that is not there, or may not be written,
   is no failure; one that cannot be read is, as of hu_input_folder. */
hu_status hu_temporary_sweep(const char *folder);
#endif
