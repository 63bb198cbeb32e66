/* SPDX-License-Identifier: Apache-2.0
   Room for large arrays: memory while it takes a quarter of what the process may have, beyond that files
   that nobody else sees, mapped, so that the kernel writes out what it needs the memory of. */
#ifndef HU_BASE_ROOM_H
#define HU_BASE_ROOM_H

#include "lib/base/status.h"

#include <stddef.h>

/* Bytes of memory that this process may have: the machine's, or less where its control group or a limit of its own
   (RLIMIT_DATA, RLIMIT_AS) says so. Read once. */
size_t hu_memory_limit(void);

/* BYTES of any content, aligned to 64; *P is given back by hu_room_free. WHAT: what they are for, in a message. Files
   are made in TMPDIR, in the folder of hu_room_in or in /tmp, the first that is on a disk and has the space, which is
   reserved: a full disk is HU_EIO here, never a signal later. */
hu_status hu_room_get(void **p, size_t bytes, const char *what);
/* P may be NULL, or memory of malloc's. */
void hu_room_free(void *p);

/* DIR, which must live on, or NULL. */
void hu_room_in(const char *dir);
/* Bytes in memory beyond which files are used; (size_t)-1: the default. For tests. */
void hu_room_keep(size_t bytes);
/* Bytes that lie in files now; for tests. */
size_t hu_room_in_files(void);
#endif
