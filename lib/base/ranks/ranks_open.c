/* SPDX-License-Identifier: Apache-2.0
   Finds and loads the module that speaks MPI, and joins the other ranks. */
#include "lib/base/ranks/ranks_open.h"

#include "lib/base/build.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifndef HU_MODULEDIR
#define HU_MODULEDIR "."
#endif
#define MODULE "halfulp-mpi.so"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CHECKS_LEAKS
#endif
#endif
#if defined CHECKS_LEAKS || defined __SANITIZE_ADDRESS__
/* The leak sanitizer looks when the process ends. MPI has unloaded its parts by then, so that their leaks would have no
   name and t/tool/mpi-leaks.txt could not tell them from halfulp's: under it nothing is unloaded. */
int
dlclose(void *handle)
{
	(void)handle;
	return 0;
}
#endif

char *
hu_ranks_module(void)
{
	const char *own = getenv("HALFULP_MPI");

	if (own && *own)
		return hu_xstrdup(own);
#ifdef HU_MPI
	char *folder = hu_build_folder(), *path = folder ? hu_path(folder, "%s", MODULE) : NULL;

	free(folder);
	if (path && hu_exists(path))
		return path;
	free(path);
	path = hu_path(HU_MODULEDIR, "%s", MODULE);
	if (hu_exists(path))
		return path;
	free(path);
#endif
	return NULL;
}

static hu_status
load(const hu_wire **wire)
{
	char *path = hu_ranks_module();

	if (!path)
		return hu_fail(HU_EUNABLE,
			"%d processes were started together, and this build has no MPI: configure it --with-mpi=yes, "
			"or start one",
			hu_ranks_started());
	/* Open MPI loads parts of itself that look for its symbols among those of all files. */
	void *file = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	*wire = file ? dlsym(file, "hu_wire_mpi") : NULL;
	free(path);
	if (*wire)
		return HU_OK;
	hu_ranks_now.apart = 1;
	return hu_fail(HU_EUNABLE, "rank %d of %d cannot load MPI: %s", hu_ranks_own(), hu_ranks_started(), dlerror());
}

hu_status
hu_ranks_open(void)
{
	const hu_wire *wire;
	hu_ranks_state *s = &hu_ranks_now;

	if (s->wire || hu_ranks_started() == 1)
		return HU_OK;
	HU_TRY(load(&wire));
	s->wire = wire;
	s->wire->open(&s->rank, &s->size, &s->local, &s->place, s->library, sizeof s->library);
	/* A program of another MPI than the one that started it finds itself alone. */
	if (s->size != hu_ranks_started()) {
		hu_fail(HU_EUNABLE,
			"%d processes were started, and %s finds %d of them: start them with that MPI's own mpirun",
			hu_ranks_started(), s->library, s->size);
		s->apart = 1;
		hu_ranks_close();
		return HU_EUNABLE;
	}
	return HU_OK;
}
