/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/table/bytes.h"

#include <stdio.h>

const char *
hu_bytes_text(double bytes, char *out, size_t size)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB" };
	int k = 0;

	for (; bytes >= 999.5 && k < 4; k++)
		bytes /= 1000;
	snprintf(out, size, k && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, unit[k]);
	return out;
}
