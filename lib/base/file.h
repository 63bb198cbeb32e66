/* SPDX-License-Identifier: Apache-2.0
   Whole files in, whole files out. An output file is written under a temporary
   name beside its target, flushed to the disk and renamed, so a killed run
   never leaves half a file that looks whole. */
#ifndef HU_BASE_FILE_H
#define HU_BASE_FILE_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The whole of PATH in memory, one 0 byte after its end; *data freed by the
   caller with free(). HU_EFILE where it cannot be opened or read. */
hu_status hu_file_read(const char *path, char **data, size_t *len);

typedef struct hu_outfile { FILE *f; char *path, *temp; } hu_outfile;

/* Opens an output; write to o->f. HU_EIO where the folder does not take it. */
hu_status hu_outfile_open(hu_outfile *o, const char *path);
/* Flushes, syncs and renames; HU_EIO (disk full, …) removes the temporary and leaves any old file. */
hu_status hu_outfile_commit(hu_outfile *o);
/* Drops what was written. */
void hu_outfile_abandon(hu_outfile *o);

/* open + write + commit of N bytes. */
hu_status hu_file_write(const char *path, const void *data, size_t n);

/* Makes a folder and its parents; no failure where it exists already. */
hu_status hu_make_dirs(const char *path);
int hu_exists(const char *path);

/* "DIR/NAME" in a new string (printf-like NAME), freed by the caller. */
char *hu_path(const char *dir, const char *name, ...) __attribute__((format(printf, 2, 3)));
#endif
