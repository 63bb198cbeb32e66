/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/gate_append.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

hu_status
hu_gate_append(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "a");
	struct stat before;
	int known = f && !fstat(fileno(f), &before) && S_ISREG(before.st_mode);
	int ok = f && fwrite(text, 1, n, f) == n;

	if (f && fclose(f))
		ok = 0;
	if (!ok && known && truncate(path, before.st_size)) { /* it fails below all the same */
	}
	return ok ? HU_OK : hu_fail(HU_EIO, "%s cannot be written: is its folder there, and the disk not full?", path);
}
