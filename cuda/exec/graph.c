/* SPDX-License-Identifier: Apache-2.0
   Invalidates recorded steps and prepared copies of the weights. Whoever moves what they point to calls this. */
#include "cuda/exec/machine_parts.h"

void
hu_machine_forget_ahead(hu_machine *m)
{
	m->schedule.ahead = HU_AHEAD_NONE;
}

void
hu_machine_drop_graphs(hu_machine *m)
{
	for (int i = 0; i < HU_GRAPHS; i++) {
		if (m->schedule.graph[i])
			m->side->queues->graph_release(m->schedule.graph[i]);
		m->schedule.graph[i] = NULL;
	}
	m->schedule.steps = 0; /* what the next step launches may be loaded then */
}
