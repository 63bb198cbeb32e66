/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/performed.h"

static hu_performed *now;

void
hu_performed_set(hu_performed *p)
{
	now = p;
}

int
hu_performed_asked(void)
{
	return now != (void *)0;
}

void
hu_performed_macs(size_t n)
{
	if (now)
#pragma omp atomic
		now->macs += n;
}

void
hu_performed_operations(size_t n)
{
	if (now)
#pragma omp atomic
		now->operations += n;
}
