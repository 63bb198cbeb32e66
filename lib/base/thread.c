/* SPDX-License-Identifier: Apache-2.0
   The settings of OpenMP's threads. */
#include "lib/base/thread.h"

#include "lib/base/build.h"

#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

void
hu_threads_settle(char **argv)
{
	if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"))
		return;
	/* without memory for them the new program would find none of them and begin again, for ever */
	if (setenv("GOMP_SPINCOUNT", "1000", 1) || setenv("KMP_BLOCKTIME", "1", 1))
		return;
	char *self = hu_build_program();
	if (self)
		execv(self, argv);
	free(self);
}

void
hu_threads_set(int n)
{
	omp_set_num_threads(n > 0 ? n : omp_get_num_procs());
}

int
hu_threads_of(int processes)
{
	int own = omp_get_num_procs();

	if (own < sysconf(_SC_NPROCESSORS_ONLN) || processes <= 1)
		return own;
	return own > processes ? own / processes : 1;
}

int
hu_threads(void)
{
	return omp_get_max_threads();
}
