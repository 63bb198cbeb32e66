/* SPDX-License-Identifier: Apache-2.0
   Room for large arrays. They lie in memory until they take half of what the process may have; beyond that they
   lie in nameless files mapped into memory, whose pages the kernel can write out when it needs the memory. */
#ifndef HU_BASE_ROOM_H
#define HU_BASE_ROOM_H

#include "lib/base/status.h"

#include <stddef.h>

/* Bytes of memory that this process may have: the machine's, or less where the control group (cgroup) or a limit of
   the process (RLIMIT_DATA, which --max-memory sets, RLIMIT_AS) says so. The value is read once. */
size_t hu_memory_limit(void);
/* Says that a limit of the process was changed. */
void hu_room_limit_changed(void);

/* Sets *p to `bytes` uninitialised bytes aligned to 64, to be freed with hu_room_free. `what` says in error messages
   what they are for. A file is made in TMPDIR, in the folder of hu_room_in or in /tmp, the first of them that has
   the space; folders that lie in memory come last. The space is reserved, so a full disk is HU_EIO here and never a
   signal later. HU_ENOMEM where there is no memory. */
hu_status hu_room_get(void **p, size_t bytes, const char *what);
/* Frees what hu_room_get returned. p may also be NULL or memory from malloc. */
void hu_room_free(void *p);

/* Names a folder for the files. The string must outlive all later calls; NULL names none. */
void hu_room_in(const char *dir);
/* Sets after how many bytes in memory files are used; (size_t)-1 restores the default. For tests. */
void hu_room_keep(size_t bytes);
/* Returns how many bytes lie in files now. For tests. */
size_t hu_room_in_files(void);
#endif
