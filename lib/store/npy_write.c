/* SPDX-License-Identifier: Apache-2.0
   Writes .npy files, as NumPy does: the header's dict, filled up to a multiple of 64 bytes, and the elements. */
#include "lib/store/npy.h"

#include "lib/base/file.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <string.h>

hu_status
hu_npy_write(const char *path, const char *dtype_name, int rank, const size_t *shape, const void *data)
{
	size_t count = 1, width = (size_t)(dtype_name[1] - '0');
	hu_str h;
	hu_outfile o;

	HU_ASSERT(strlen(dtype_name) == 2 && strchr("fu", dtype_name[0]) && strchr("1248", dtype_name[1]));
	HU_ASSERT(rank >= 0 && rank <= HU_NPY_RANK);
	HU_TRY(hu_outfile_open(&o, path));
	hu_str_init(&h);
	hu_str_addf(&h, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", width == 1 ? '|' : '<', dtype_name);
	for (int d = 0; d < rank; d++) {
		hu_str_addf(&h, d ? " %zu," : "%zu,", shape[d]);
		count *= shape[d];
	}
	/* Python writes (2, 3) but (2,). */
	if (rank > 1)
		h.s[--h.len] = 0;
	hu_str_add(&h, "), }");
	/* The format requires the data at a multiple of 64, with a newline before it. */
	while ((10 + h.len + 1) % 64)
		hu_str_add(&h, " ");
	hu_str_add(&h, "\n");
	unsigned char start[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(h.len & 255),
		(unsigned char)(h.len >> 8) };
	if (fwrite(start, 1, 10, o.f) == 10 && fwrite(h.s, 1, h.len, o.f) == h.len)
		fwrite(data, width, count, o.f);
	hu_str_release(&h);
	return hu_outfile_commit(&o);
}
