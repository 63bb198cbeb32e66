/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/rows.h"

hu_rows
hu_rows_of(int rank, const size_t *d, int axis, size_t batch)
{
	size_t all = 1, inner = 1;

	for (int i = 0; i < rank; i++)
		all *= d[i];
	for (int i = axis + 1; i < rank && axis >= 0; i++)
		inner *= d[i];
	size_t width = axis < 0 || axis >= rank ? all / batch : d[axis] / batch * inner;
	return (hu_rows){ batch, all / batch, width ? width : 1 };
}
