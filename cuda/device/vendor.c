/* SPDX-License-Identifier: Apache-2.0
   Finds libraries where the dynamic linker does not: in the folder of a CUDA toolkit, and in the folders where Python
   keeps NVIDIA's packages, which PyTorch and JAX install: those of the active environment, of the python3 that PATH
   finds, of the user and of the system. */
#include "cuda/device/vendor.h"

#include "lib/base/mem.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACE = 1024, PLACES = 32 };

typedef struct places { const char *const *names; char **path; size_t n, most; } places;

/* Adds the libraries in the folders that match the pattern from followed by within. */
static void
add(places *p, const char *from, const char *within)
{
	char pattern[2 * PLACE];
	glob_t found;

	for (size_t k = 0; from && *from && p->names[k]; k++) {
		if (snprintf(pattern, sizeof pattern, "%s%s/%s", from, within, p->names[k]) >= (int)sizeof pattern ||
			glob(pattern, 0, NULL, &found))
			continue;
		for (size_t i = found.gl_pathc; i-- > 0 && p->n < p->most;)
			p->path[p->n++] = hu_xstrdup(found.gl_pathv[i]);
		globfree(&found);
	}
}

static void
add_python(places *p, const char *prefix)
{
	add(p, prefix, "/lib/python3*/site-packages/nvidia/*/lib");
	add(p, prefix, "/lib/python3*/dist-packages/nvidia/*/lib");
}

/* PATH's first folder with a python3, one folder up; a link is not followed, for an environment's leads out of it. */
static int
python_prefix(char *to, size_t size)
{
	const char *at = getenv("PATH");
	char program[PLACE];

	for (size_t n; at && *at; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		if (n && snprintf(program, sizeof program, "%.*s/python3", (int)n, at) < (int)sizeof program &&
			access(program, X_OK) == 0)
			return snprintf(to, size, "%.*s/..", (int)n, at) < (int)size;
	}
	return 0;
}

size_t
hu_vendor_places(const char *const *names, char **path, size_t most)
{
	places p = { names, path, 0, most };
	const char *home = getenv("HOME");
	char prefix[PLACE];

	add(&p, getenv("CUDA_HOME"), "/lib64");
	add(&p, getenv("CUDA_PATH"), "/lib64");
	add(&p, "/usr/local", "/cuda*/lib64");
	add(&p, "/usr/local", "/cuda*/targets/*/lib");
	add(&p, "/opt", "/cuda/lib64");
	add(&p, getenv("CONDA_PREFIX"), "/lib");
	add_python(&p, getenv("VIRTUAL_ENV"));
	add_python(&p, getenv("CONDA_PREFIX"));
	if (python_prefix(prefix, sizeof prefix))
		add_python(&p, prefix);
	if (home && *home && snprintf(prefix, sizeof prefix, "%s/.local", home) < (int)sizeof prefix)
		add_python(&p, prefix);
	add_python(&p, "/usr/local");
	add_python(&p, "/usr");
	return p.n;
}

void *
hu_vendor_open(const char *variable, const char *const *names, int anywhere)
{
	const char *own = getenv(variable);
	void *file = own && *own ? dlopen(own, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (own || !anywhere)
		return file;
	for (size_t i = 0; !file && names[i]; i++)
		file = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (file)
		return file;
	char *place[PLACES];
	size_t n = hu_vendor_places(names, place, PLACES);
	for (size_t i = 0; i < n; i++) {
		if (!file)
			file = dlopen(place[i], RTLD_NOW | RTLD_LOCAL);
		free(place[i]);
	}
	return file;
}

int
hu_vendor_symbol(void *file, const char *name, void *function)
{
	void *p = dlsym(file, name);

	memcpy(function, &p, sizeof p);
	return p != NULL;
}
