/* SPDX-License-Identifier: Apache-2.0
   What the build knows (build.h). */
#include "lib/base/build.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The build system defines all four. Without it, the program runs from the top of its source tree. */
#ifndef HU_VERSION
#define HU_VERSION "unversioned"
#endif
#ifndef HU_GNUPLOT
#define HU_GNUPLOT "gnuplot"
#endif
#ifndef HU_PKGDATADIR
#define HU_PKGDATADIR "."
#endif
#ifndef HU_TOP_SRCDIR
#define HU_TOP_SRCDIR "."
#endif

const char *
hu_build_version(void)
{
	return HU_VERSION;
}

const char *
hu_build_compiler(void)
{
#ifdef __clang__
	return "clang " __clang_version__;
#else
	return "gcc " __VERSION__;
#endif
}

const char *
hu_build_gnuplot(void)
{
	const char *own = getenv("GNUPLOT");

	return own && *own ? own : HU_GNUPLOT;
}

char *
hu_build_folder(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return NULL;
	path[n] = 0;
	char *slash = strrchr(path, '/');
	if (slash)
		*slash = 0;
	return hu_xstrdup(path);
}

char *
hu_build_find(const char *name)
{
	char *folder = hu_build_folder(), *found = NULL, *slash = folder ? strrchr(folder, '/') : NULL, *beside = NULL;

	if (slash) {
		*slash = 0; /* what is beside bin/ */
		beside = hu_path(folder, "share/halfulp");
	}
	const char *const place[] = { getenv("HALFULP_SHARE"), beside, HU_TOP_SRCDIR, HU_PKGDATADIR };

	for (size_t i = 0; !found && i < sizeof place / sizeof *place; i++) {
		if (!place[i] || !*place[i])
			continue;
		char *path = hu_path(place[i], "%s", name);
		if (hu_exists(path))
			found = path;
		else
			free(path);
	}
	free(beside);
	free(folder);
	return found;
}

char *
hu_build_file(const char *name)
{
	char *path = hu_build_find(name);

	if (!path)
		hu_fail(HU_EFILE, "%s is neither in %s nor in %s; set HALFULP_SHARE to the folder that holds it", name,
			HU_TOP_SRCDIR, HU_PKGDATADIR);
	return path;
}
