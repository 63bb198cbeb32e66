/* SPDX-License-Identifier: Apache-2.0
   Libraries of NVIDIA's, here cuBLASLt, are found where toolkits and Python's packages put them: folders are laid out
   as these do it, with empty files in the library's place. */
#include "cuda/device/vendor.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12", NULL };

/* An empty file of mode MODE below the test's folder, with the folders that lead there. */
static void
put(const char *name, unsigned mode)
{
	char path[600];

	snprintf(path, sizeof path, "%s/%s", test_dir(), name);
	for (char *s = path + strlen(test_dir()) + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		mkdir(path, 0777);
		*s = '/';
	}
	FILE *f = fopen(path, "w");
	if (!f || fclose(f) || chmod(path, (mode_t)mode))
		bail_out("%s cannot be written", path);
}

/* Where the first library below the test's folder stands, without that folder; "" where none is found. */
static const char *
first(void)
{
	static char at[600];
	char *path[32];
	size_t n = hu_vendor_places(names, path, 32);

	*at = 0;
	for (size_t i = 0; i < n; i++) {
		if (!*at && !strncmp(path[i], test_dir(), strlen(test_dir())))
			snprintf(at, sizeof at, "%s", path[i] + strlen(test_dir()) + 1);
		free(path[i]);
	}
	return at;
}

static void
below(const char *variable, const char *name)
{
	char path[600];

	snprintf(path, sizeof path, "%s/%s", test_dir(), name);
	setenv(variable, path, 1);
}

int
main(void)
{
	static const char *const unset[] = { "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME" };

	for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
		unsetenv(unset[i]);
	setenv("PATH", "/nowhere", 1);
	is_text(first(), "", "nothing is found where nothing is");

	put("home/.local/lib/python3.12/site-packages/nvidia/cublas/lib/libcublasLt.so.12", 0644);
	below("HOME", "home");
	is_text(first(), "home/.local/lib/python3.12/site-packages/nvidia/cublas/lib/libcublasLt.so.12",
		"among the user's Python packages");

	put("torch/bin/python3", 0755);
	put("torch/lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13", 0644);
	put("other/bin/python3", 0644); /* no program */
	char path[1400];
	snprintf(path, sizeof path, "/nowhere::%s/other/bin:%s/torch/bin:/usr/bin", test_dir(), test_dir());
	setenv("PATH", path, 1);
	is_text(first(), "torch/bin/../lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13",
		"in the environment of the python3 that PATH finds");

	put("venv/lib/python3.9/site-packages/nvidia/cublas/lib/libcublasLt.so.12", 0644);
	put("venv/lib/python3.9/site-packages/nvidia/cu13/lib/libcublasLt.so.13", 0644);
	below("VIRTUAL_ENV", "venv");
	is_text(first(), "venv/lib/python3.9/site-packages/nvidia/cu13/lib/libcublasLt.so.13",
		"in the environment that is active, the newer of two");

	put("toolkit/lib64/libcublasLt.so.12", 0644);
	below("CUDA_HOME", "toolkit");
	is_text(first(), "toolkit/lib64/libcublasLt.so.12", "and before all in the toolkit that CUDA_HOME names");

	size_t n = hu_vendor_places(names, NULL, 0);
	ok(n == 0, "no more places than are asked for");
	return done_testing();
}
