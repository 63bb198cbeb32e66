/* SPDX-License-Identifier: Apache-2.0
   Reading and writing of whole files. An output file is written under a temporary name beside its target, flushed to
   the disk and then renamed, so that a killed run never leaves half a file that looks whole. */
#ifndef HU_BASE_FILE_H
#define HU_BASE_FILE_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads the whole file into memory and appends one 0 byte, which *len does not count. The caller frees *data with
   free(). Returns HU_EFILE where the file cannot be opened or read. */
hu_status hu_file_read(const char *path, char **data, size_t *len);

/* Maps a regular file for reading: *bytes are its *n bytes, NULL where it is empty, until hu_file_unmap. HU_EFILE where
   it cannot be opened or is no regular file. */
hu_status hu_file_map(const char *path, void **bytes, size_t *n);
/* Does nothing where bytes is NULL. */
void hu_file_unmap(void *bytes, size_t n);

/* An output file being written: callers write to f; path is the target, which has the name leaf in the folder that
   `folder` is open on, and temp its temporary name there (NULL where the target is a pipe or a device, which is written
   directly). Below a guarded folder (guard.h) no link is followed. */
typedef struct hu_outfile {
	FILE *f;
	char *path, *temp;
	const char *leaf;
	int folder;
} hu_outfile;

/* Opens an output file. HU_EIO where it cannot be made; there is then nothing to commit or abandon. */
hu_status hu_outfile_open(hu_outfile *o, const char *path);
/* Flushes, syncs and renames, and releases o. After HU_EIO (disk full, …, or a failure of the system before, failed.h)
   the temporary file is gone and any older file of that name is as it was. */
hu_status hu_outfile_commit(hu_outfile *o);
/* Throws away what was written and releases o. */
void hu_outfile_abandon(hu_outfile *o);

/* hu_outfile_open, the n bytes of data, and hu_outfile_commit. */
hu_status hu_file_write(const char *path, const void *data, size_t n);

/* Makes a folder and its parents. A folder that exists already is no failure. */
hu_status hu_make_dirs(const char *path);
/* Returns 0 where there is no such file. One that the system refuses to show exists: opening it says why. */
int hu_exists(const char *path);
int hu_exists_in(const char *folder, const char *name);
/* Removes a folder with all that is in it; follows no symbolic link. */
void hu_remove_all(const char *folder);

/* The name that answers give a file: the last part of its path; all of it where that ends in a slash or the system
   itself made the name, such as /dev/fd/63. */
const char *hu_file_leaf(const char *path);
/* Returns "dir/name" as a new string, which the caller frees. name is a printf format; its result is cut at 1023
   bytes. */
char *hu_path(const char *dir, const char *name, ...) __attribute__((format(printf, 2, 3)));
#endif
