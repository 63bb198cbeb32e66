/* SPDX-License-Identifier: Apache-2.0
   What the build knows (build.h). */
#include "lib/base/build.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#else
#include <sys/auxv.h>
#endif

#define LINK "/proc/self/exe" /* Linux's name of the running program, also of one whose file was removed */

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

/* The path that the program was started by, which the caller frees; NULL where the system does not tell it. */
static char *
started_by(void)
{
#ifdef __APPLE__
	char told[4096];
	uint32_t n = sizeof told;
	const char *path = _NSGetExecutablePath(told, &n) ? NULL : told;
#elif defined AT_EXECPATH /* FreeBSD */
	char told[4096];
	const char *path = elf_aux_info(AT_EXECPATH, told, sizeof told) ? NULL : told;
#else
	const char *path = (const char *)getauxval(AT_EXECFN);
#endif
	char whole[PATH_MAX];

	return path && realpath(path, whole) ? hu_xstrdup(whole) : NULL;
}

/* What Linux's link says; NULL where there is no link. */
static char *
linked(void)
{
	char path[4096];
	ssize_t n = readlink(LINK, path, sizeof path - 1);

	if (n <= 0)
		return NULL;
	path[n] = 0;
	return hu_xstrdup(path);
}

char *
hu_build_program(void)
{
	char *path = linked();
	struct stat own, there;

	if (!path)
		return started_by();
	/* started by its own path, a process has the program's name in the list of processes */
	if (stat(path, &there) || stat(LINK, &own) || own.st_ino != there.st_ino || own.st_dev != there.st_dev) {
		free(path);
		path = hu_xstrdup(LINK);
	}
	return path;
}

char *
hu_build_folder(void)
{
	char *path = linked();

	path = path ? path : started_by();
	char *slash = path ? strrchr(path, '/') : NULL;
	if (slash)
		*slash = 0;
	return path;
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
