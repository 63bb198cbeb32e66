/* SPDX-License-Identifier: Apache-2.0
   A device that only counts. Programs are opened on it as on the device that it stands for, with plans, scratch space
   and transfer buffers, but what they allocate is only added up. Nothing is launched, so if it stands for the shim it
   needs no device. */
#include "cuda/exec/backend.h"
#include "cuda/exec/machine.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t allocated, most;

/* Returns a pointer to a few bytes that hold the size asked for. It is compared and added to, but never
   dereferenced. */
static hu_status
alloc(void **p, size_t bytes)
{
	size_t *block = hu_xmalloc(sizeof *block);

	*p = block;
	*block = bytes;
	allocated += bytes;
	most = allocated > most ? allocated : most;
	return HU_OK;
}

static void
release(void *p)
{
	allocated -= p ? *(size_t *)p : 0;
	free(p);
}

/* Buffers for transfers: an opened machine has them but sends nothing. */
static hu_status
host_alloc(void **p, size_t bytes)
{
	enum { ENOUGH = 1 << 16 };

	*p = malloc(bytes && bytes < ENOUGH ? bytes : ENOUGH);
	return *p ? HU_OK : hu_fail(HU_ENOMEM, "there is no memory to count with");
}

static hu_status
open_queue(void **queue)
{
	static char nothing;

	*queue = &nothing;
	return HU_OK;
}

static void
close_queue(void *queue)
{
	(void)queue;
}

static hu_status
clear(void *queue, void *p, size_t bytes)
{
	(void)queue, (void)p, (void)bytes;
	return HU_OK;
}

static hu_status
wait(void *queue)
{
	(void)queue;
	return HU_OK;
}

static hu_status
memory(size_t *left, size_t *total)
{
	*total = SIZE_MAX;
	*left = *total - allocated;
	return HU_OK;
}

static hu_side side;

static hu_status
counted_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm)
{
	return hu_machine_open(m, p, &side, gemm);
}

static size_t
peak(int again)
{
	size_t was = most;

	if (again)
		most = allocated;
	return was;
}

const hu_backend *
hu_backend_counted(const char *name)
{
	static hu_backend row;
	const hu_side *of = NULL;

#ifdef HU_HAVE_SHIM
	of = &hu_shim_side;
#endif
#ifdef HU_HAVE_CUDA
	of = !strcmp(name, "cuda") ? &hu_gpu_side : of;
#endif
	row = strcmp(name, "cuda") ? hu_backend_shim : hu_backend_cuda;
	if (!of)
		return NULL;
	side = *of;
	side.open = open_queue;
	side.close = close_queue;
	side.alloc = alloc;
	side.release = release;
	side.host_alloc = host_alloc;
	side.host_release = free;
	side.clear = clear;
	side.wait = wait;
	side.memory = memory;
	row.open = counted_open;
	row.peak = peak;
	return &row;
}
