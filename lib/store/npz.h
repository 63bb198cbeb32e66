/* SPDX-License-Identifier: Apache-2.0
   NumPy's .npz files: a zip archive with a .npy file an array, stored or deflated. libzip unpacks, npy.h reads. */
#ifndef HU_STORE_NPZ_H
#define HU_STORE_NPZ_H

#include "lib/store/npy.h"

typedef struct hu_npz {
	size_t n;
	char **name;      /* without .npy, in the archive's order */
	hu_npy *array;
} hu_npz;

/* Reads all of PATH. HU_EFILE says which member is wrong and how: not .npy, encrypted, a bad checksum, cut short, as
   hu_npy_parse; HU_ENOMEM. *Z then needs no release. */
hu_status hu_npz_read(hu_npz *z, const char *path);
/* The same for N bytes in memory; NAME is for messages. */
hu_status hu_npz_parse(hu_npz *z, const char *name, const void *bytes, size_t n);
void hu_npz_release(hu_npz *z);
/* The same, of the arrays whose names WANTED lists with a blank between two. Of any other member only the name is
   read, whatever the member is: its array has no data. */
hu_status hu_npz_read_some(hu_npz *z, const char *path, const char *wanted);

/* One array from SPEC: a .npy file's path, or NPZ:NAME, or an .npz file of one array. Told by what
   the files begin with, not by their names. HU_EFILE as above, or names the arrays that there are. */
hu_status hu_npz_pick(hu_npy *a, const char *spec);
/* 1 where PATH begins as a zip archive does. */
int hu_npz_is(const char *path);
#endif
