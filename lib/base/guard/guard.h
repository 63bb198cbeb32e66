/* SPDX-License-Identifier: Apache-2.0
   Folders whose contents somebody else may have made, such as a run directory from another machine. Below a guarded
   folder nothing is written, made or removed through a symbolic link, and nothing but regular files and folders is
   opened: a link could lead out of the folder, and a FIFO or a device could block for ever. Elsewhere paths mean what
   the system says they mean, since whoever named them on the command line chose their links. */
#ifndef HU_BASE_GUARD_H
#define HU_BASE_GUARD_H

#include "lib/base/status.h"

#include <stddef.h>

/* Guards the folder dir from now on, whether it is there or not. Paths below it are recognised by the same spelling.
   The folder itself may be a symbolic link. */
void hu_guard(const char *dir);
/* Returns 1 if path lies below a guarded folder. */
int hu_guard_holds(const char *path);

/* Opens the folder that a file to be written lies in, for openat and the like; the caller closes *fd. *leaf is the
   file's name there. Below a guarded folder no symbolic link is followed: HU_EFILE names the one that is in the way.
   HU_EIO where the folder cannot be opened. */
hu_status hu_guard_parent(const char *path, int *fd, const char **leaf);
/* The outermost guarded folder that path lies below, which the caller frees. */
char *hu_guard_root(const char *path);
/* Makes the folder path and its parents below its guarded folder, which is there. A folder that is there already is no
   failure. */
hu_status hu_guard_make_dirs(const char *path);

/* The status of a failed read, by errno: HU_EFILE where the file is at fault, HU_EIO where the system is. */
hu_status hu_guard_status(int error);
/* Remembers (hu_fail) that the system failed at `what`, where errno says that it did: for what is left out then, or
   told as not known. */
void hu_guard_note(const char *what);
/* Fails with HU_EFILE: what the first upto bytes of path name is a link, or no folder. */
hu_status hu_guard_in_the_way(const char *path, size_t upto);
#endif
