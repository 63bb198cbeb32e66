/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/thread.h"

#include <omp.h>

void
hu_threads_set(int n)
{
	omp_set_num_threads(n > 0 ? n : omp_get_num_procs());
}

int
hu_threads(void)
{
	return omp_get_max_threads();
}
