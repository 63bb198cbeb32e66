/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/spread/backend.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/program/spread/backend_cpu.h"
#include "lib/program/spread/part.h"

#include <stdlib.h>
#include <string.h>

static hu_status
cpu_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm)
{
	return hu_cpu_open(m, p, gemm, NULL);
}

static hu_status
cpu_write(hu_machine *m, int tensor, const void *values)
{
	hu_tensor *t = &m->x.t[tensor];

	memcpy(t->data, values, t->n * hu_element_size(t->format));
	return HU_OK;
}

static hu_status
cpu_read(hu_machine *m, int tensor, void *values)
{
	const hu_tensor *t = &m->x.t[tensor];

	memcpy(values, t->data, t->n * hu_element_size(t->format));
	return HU_OK;
}

static hu_status
cpu_step(hu_machine *m, const hu_env *env)
{
	return hu_exec_run(&m->x, env);
}

static hu_status
cpu_commit(hu_machine *m)
{
	hu_exec_commit(&m->x);
	return HU_OK;
}

static hu_status
cpu_digest(hu_machine *m, uint64_t *digest)
{
	*digest = hu_exec_digest(&m->x);
	return HU_OK;
}

static const hu_tensor *
cpu_peek(hu_machine *m, int tensor)
{
	return &m->x.t[tensor];
}

static void
cpu_profile(hu_machine *m, double *seconds)
{
	m->x.seconds = seconds;
}

static const hu_backend cpu = { .name = "cpu",
	.summary = "emulation on the CPU: bit-reproducible",
	.built = 1,
	.reads = "",
	.open = cpu_open,
	.close = hu_cpu_close,
	.write = cpu_write,
	.read = cpu_read,
	.step = cpu_step,
	.commit = cpu_commit,
	.digest = cpu_digest,
	.peek = cpu_peek,
	.profile = cpu_profile,
	.part = &hu_part_cpu };

enum { MOST = 4 };
static const hu_backend *table[MOST] = { &cpu };
static int rows = 1;

void
hu_backend_register(const hu_backend *b)
{
	HU_ASSERT(rows < MOST);
	table[rows++] = b;
}

const hu_backend *
hu_backend_at(int i)
{
	return i >= 0 && i < rows ? table[i] : NULL;
}

hu_status
hu_backend_find(const char *name, const hu_backend **out)
{
	hu_str known;

	hu_str_init(&known);
	*out = NULL;
	for (int i = 0; i < rows; i++) {
		hu_str_addf(&known, "%s%s", i ? ", " : "", table[i]->name);
		if (!strcmp(table[i]->name, name))
			*out = table[i];
	}
	if (!*out)
		hu_fail(HU_EINVAL, "unknown back end '%s'; this build knows: %s", name, known.s);
	hu_str_release(&known);
	return *out ? HU_OK : HU_EINVAL;
}
