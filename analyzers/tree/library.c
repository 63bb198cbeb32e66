/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/tree/library.h"

#include "lib/base/build.h"
#include "lib/base/guard/children.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const packages[] = { "numpy", "torch", "onnxruntime", NULL };
static const char *const functions[] = { "cblas_sgemm", "cblas_dgemm", "cblas_sdot", "cblas_ddot", NULL };

static void
add(hu_library *l, char *what, int wide)
{
	HU_GROW(l->sum, l->n, l->cap);
	l->sum[l->n++] = (hu_library_sum){ what, wide };
}

static hu_status
open_object(hu_library *l, const char *path)
{
	l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!l->handle)
		return hu_fail(HU_EFILE, "--library %s: %s", hu_shown(path), hu_shown(dlerror()));
	l->title = hu_xstrdup(path);
	for (const char *const *f = functions; *f; f++)
		if (dlsym(l->handle, *f))
			add(l, hu_xstrdup(*f), (*f)[6] == 'd');
	return l->n ? HU_OK
		    : hu_fail(HU_EFILE,
			      "--library %s: it has none of cblas_sgemm, cblas_dgemm, cblas_sdot and cblas_ddot",
			      hu_shown(path));
}

static hu_status
open_openblas(hu_library *l)
{
	static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", "libopenblas.dylib", NULL };

	for (const char *const *s = names; *s; s++)
		if (open_object(l, *s) == HU_OK)
			return HU_OK;
	return hu_fail(HU_EUNABLE,
		"--library openblas: libopenblas.so.0 is not found: install it, or give the path of a "
		"shared object with cblas_sgemm");
}

/* Starts `python3 SCRIPT NAME N`, whose complaints are not shown. */
static hu_status
start(hu_library *l, const char *name)
{
	char *script = hu_build_file("python/halfulp_sums.py"), number[24];
	const char *own = getenv("PYTHON"), *python = own && *own ? own : "python3";
	int ask[2], answer[2];

	if (!script)
		return HU_EFILE;
	snprintf(number, sizeof number, "%zu", l->terms);
	if (pipe(ask) || pipe(answer)) {
		free(script);
		return hu_fail(HU_EIO, "--library %s: no pipe to a process: %s", name, strerror(errno));
	}
	fflush(NULL);
	pid_t self = getpid();
	l->pid = fork();
	if (l->pid == 0) {
		hu_end_with(self);
		if (dup2(ask[0], STDIN_FILENO) < 0 || dup2(answer[1], STDOUT_FILENO) < 0)
			_exit(126);
		for (int k = 0; k < 2; k++) {
			close(ask[k]);
			close(answer[k]);
		}
		if (freopen("/dev/null", "w", stderr))
			execlp(python, python, script, name, number, (char *)NULL);
		_exit(127);
	}
	free(script);
	close(ask[0]);
	close(answer[1]);
	l->ask = fdopen(ask[1], "wb");
	l->answer = fdopen(answer[0], "rb");
	return l->pid > 0 && l->ask && l->answer
		       ? HU_OK
		       : hu_fail(HU_EIO, "--library %s: no process: %s", name, strerror(errno));
}

static hu_status
open_package(hu_library *l, const char *name)
{
	char line[256];

	signal(SIGPIPE, SIG_IGN); /* a process that ends is told of by its missing answer */
	HU_TRY(start(l, name));
	while (fgets(line, sizeof line, l->answer) && *line != '\n') {
		line[strcspn(line, "\n")] = 0;
		char *tab = strchr(line, '\t');
		if (!l->title) {
			l->title = hu_xstrdup(hu_shown(line));
		} else if (tab) {
			*tab = 0;
			add(l, hu_xprintf("%s, %s", hu_shown(tab + 1), line), !strcmp(line, "float64"));
		}
	}
	return l->n ? HU_OK
		    : hu_fail(HU_EUNABLE,
			      "--library %s: Python cannot import it: install it (pip install %s), or name a "
			      "Python that has it in the environment variable PYTHON",
			      name, name);
}

hu_status
hu_library_open(hu_library *l, const char *name, size_t terms)
{
	*l = (hu_library){ .terms = terms };
	for (const char *const *s = packages; *s; s++)
		if (!strcmp(*s, name))
			return open_package(l, name);
	if (!strcmp(name, "openblas"))
		return open_openblas(l);
	if (strchr(name, '/') || strstr(name, ".so"))
		return open_object(l, name);
	return hu_fail(HU_EINVAL,
		"--library %s: known are numpy, torch, onnxruntime, openblas, and a shared object's path",
		hu_shown(name));
}

void
hu_library_release(hu_library *l)
{
	if (l->ask)
		fclose(l->ask);
	if (l->answer)
		fclose(l->answer);
	if (l->pid > 0)
		waitpid(l->pid, NULL, 0);
	for (size_t i = 0; i < l->n; i++)
		free(l->sum[i].what);
	free(l->sum);
	free(l->title);
	memset(l, 0, sizeof *l); /* a BLAS keeps threads, so that its object stays loaded */
}

void (*hu_library_function(const hu_library *l, size_t i))(void)
{
	void *p = l->handle ? dlsym(l->handle, l->sum[i].what) : NULL;
	void (*function)(void) = NULL;

	memcpy(&function, &p, sizeof p); /* ISO C has no conversion from object pointers */
	return function;
}

hu_status
hu_library_ask(hu_library *l, size_t i, const double *terms, double *sum)
{
	uint32_t which = (uint32_t)i;
	double got[2];

	fwrite(&which, sizeof which, 1, l->ask);
	fwrite(terms, sizeof *terms, l->terms, l->ask);
	fflush(l->ask);
	if (fread(got, sizeof *got, 2, l->answer) != 2)
		return hu_fail(HU_EDEVICE, "%s failed on %s: its process ended", l->title, l->sum[i].what);
	*sum = got[0];
	return hu_bits64(got[0]) == hu_bits64(got[1])
		       ? HU_OK
		       : hu_fail(HU_EUNABLE, "outputs of the same terms differ: %.17g and %.17g", got[0], got[1]);
}
