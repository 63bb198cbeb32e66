/* SPDX-License-Identifier: Apache-2.0
   NumPy's .npz files: a zip archive with one .npy file per array, stored or deflated. libzip unpacks it and npy.h reads
   the arrays. */
#ifndef HU_STORE_NPZ_H
#define HU_STORE_NPZ_H

#include "lib/base/str.h"
#include "lib/store/npy.h"

struct zip;
struct zip_error;

typedef struct hu_npz {
	size_t n;
	char **name;      /* without .npy, in the archive's order */
	hu_npy *array;
} hu_npz;

/* Reads all of path. HU_EFILE says which member is wrong and how: not .npy, encrypted, a bad checksum, cut short, or
   what hu_npy_parse reports; HU_ENOMEM. *z then needs no release. */
hu_status hu_npz_read(hu_npz *z, const char *path);
/* The same for n bytes in memory. name appears in messages. */
hu_status hu_npz_parse(hu_npz *z, const char *name, const void *bytes, size_t n);
void hu_npz_release(hu_npz *z);
/* The same, but reads only the arrays whose names are in wanted, separated by blanks. Every other member is listed by
   name, whatever it is, and its array has no data. */
hu_status hu_npz_read_some(hu_npz *z, const char *path, const char *wanted);

/* Returns the array of that name, or NULL. */
hu_npy *hu_npz_find(const hu_npz *z, const char *name);
/* Appends the names of all arrays to s, as they are shown (lib/base/show.h), with `between` between them. */
void hu_npz_names(hu_str *s, const hu_npz *z, const char *between);

/* HU_EFILE: the archive path has no array of that name, but these. */
hu_status hu_npz_absent(const hu_npz *z, const char *path, const char *name);

/* Opens an archive for reading: the n bytes in memory, which stay there until it is discarded, or the file path where
   bytes is NULL. HU_ENOMEM also where libzip takes a lack of memory for something else; otherwise what hu_npz_status
   says. */
hu_status hu_npz_archive(struct zip **zip, const char *path, const void *bytes, size_t n);
/* What a failure of libzip is: HU_ENOMEM, HU_EIO where the system failed, or HU_EFILE. */
hu_status hu_npz_status(const struct zip_error *e);

/* Reads one array given as a .npy file's path, as NPZ:NAME, or as an .npz file with a single array. The files' first
   bytes decide which it is, not their names. HU_EFILE as above, or lists the arrays that exist. */
hu_status hu_npz_pick(hu_npy *a, const char *spec);
/* Returns 1 if the file path begins like a zip archive. */
int hu_npz_is(const char *path);
#endif
