/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/spread/backend_cpu.h"

#include "lib/base/mem.h"

#include <stdlib.h>

hu_status
hu_cpu_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm, const char *need)
{
	*m = NULL;
	if (gemm != HU_GEMM_AUTO)
		return hu_fail(HU_EINVAL,
			"gemm=%s: back end cpu has one way, the call's summation model; leave it out, or choose the "
			"back end cuda",
			hu_gemm_name(gemm));
	*m = hu_xcalloc(1, sizeof **m);
	hu_status st = hu_exec_init_some(&(*m)->x, p, need);
	if (st != HU_OK) {
		free(*m);
		*m = NULL;
	}
	return st;
}

void
hu_cpu_close(hu_machine *m)
{
	if (!m)
		return;
	for (int i = 0; m->message && i < m->x.p->nt; i++)
		free(m->message[i]);
	free(m->message);
	hu_exec_release(&m->x);
	free(m);
}
