/* SPDX-License-Identifier: Apache-2.0
   Opens files and folders for reading, below guarded folders (guard.h) as well as elsewhere, and tells a bad file from
   a system that failed. */
#ifndef HU_BASE_INPUT_H
#define HU_BASE_INPUT_H

#include "lib/base/status.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

/* Opens a file for reading. Below a guarded folder it must be a regular file, and its folders no links. HU_EFILE where
   it is not there, may not be read or is none; HU_EIO where the system failed (too many open files, a failing disk). A
   pipe that is named on the command line, such as
   <(command), is read whole when it is opened first, so that it may be opened again. */
hu_status hu_input_open(const char *path, FILE **f);
/* Opens a folder for reading. *d is NULL where it is not there. Below a guarded folder no link is followed. */
hu_status hu_input_folder(const char *path, DIR **d);
/* stat, where a failure of the system, which is no answer, is remembered (hu_guard_note). */
int hu_input_stat(const char *path, struct stat *s);
/* The next entry of a folder, NULL after the last. That the system failed to read it is remembered (hu_guard_note). */
struct dirent *hu_input_entry(DIR *d);
#endif
