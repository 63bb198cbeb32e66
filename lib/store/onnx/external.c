/* SPDX-License-Identifier: Apache-2.0
   Tensors whose bytes lie in a file of their own beside the model: nothing outside the model's folder is ever opened.
 */
#include "lib/store/onnx/parts.h"

#include "lib/base/mem.h"
#include "lib/base/guard/cut.h"
#include "lib/base/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1 where the relative path names nothing above its start. */
static int
stays(const char *path)
{
	if (!*path || *path == '/')
		return 0;
	for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/')
		if (!strncmp(p, "..", 2) && (!p[2] || p[2] == '/'))
			return 0;
	return 1;
}

/* The path of LOCATION with every link followed, to be freed; NULL where it is nowhere or outside the model's folder.
 */
static char *
resolve(const hu_onnx *m, const char *location, int *outside)
{
	const char *slash = strrchr(m->path, '/');
	char *folder = slash ? hu_xprintf("%.*s/", (int)(slash - m->path), m->path) : hu_xstrdup("./"),
	     *path = hu_xprintf("%s%s", folder, location), *top = realpath(folder, NULL), *real = realpath(path, NULL);

	*outside = 0;
	if (top && real) {
		size_t n = strlen(top);
		*outside = strncmp(top, real, n) || (n > 1 && real[n] != '/');
	}
	if (!top || *outside) {
		free(real);
		real = NULL;
	}
	free(top);
	free(path);
	free(folder);
	return real;
}

static hu_status
map_file(hu_onnx_map *f, const hu_onnx *m, const char *location, const char *name)
{
	struct stat st;
	int outside = 0;
	char *path = stays(location) ? resolve(m, location, &outside) : NULL;

	if (!stays(location) || (!path && outside))
		return hu_fail(HU_EFILE,
			"%s: tensor '%.200s' lies in '%.200s', which is outside the model's folder; copy it there and "
			"name it so",
			m->path, name, location);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1, e = errno;
	free(path);
	if (fd < 0)
		return hu_fail(HU_EFILE,
			"%s: tensor '%.200s' lies in '%.200s' beside the model, which cannot be opened: %s", m->path,
			name, location, strerror(e));
	int known = !fstat(fd, &st);
	e = errno;
	if (!known || !S_ISREG(st.st_mode)) {
		close(fd);
		if (!known)
			return hu_fail(hu_guard_status(e), "%s: tensor '%.200s' lies in '%.200s': %s", m->path, name,
				location, strerror(e));
		return hu_fail(HU_EFILE, "%s: tensor '%.200s' lies in '%.200s', which is not a regular file", m->path,
			name, location);
	}
	*f = (hu_onnx_map){ hu_xstrdup(location), NULL, (size_t)st.st_size };
	if (f->n)
		f->bytes = mmap(NULL, f->n, PROT_READ, MAP_PRIVATE, fd, 0);
	e = errno;
	close(fd);
	if (f->bytes != MAP_FAILED) {
		if (f->n)
			hu_cut_watch(f->bytes, f->n, location);
		return HU_OK;
	}
	free(f->location);
	return hu_fail(e == ENOMEM ? HU_ENOMEM : HU_EIO, "%s: '%.200s' cannot be mapped: %s", m->path, location,
		strerror(e)); /* the file may be as good as any */
}

/* The value of KEY as a number; OTHERWISE where it is absent, 0 returned where it is no number. */
static int
number(const Hu__Onnx__Pb__Tensor *pb, const char *key, size_t otherwise, size_t *n)
{
	*n = otherwise;
	for (size_t i = 0; i < pb->n_external_data; i++) {
		const char *k = pb->external_data[i]->key, *v = pb->external_data[i]->value;
		char *end;
		if (!k || strcmp(k, key))
			continue;
		if (!v || *v < '0' || *v > '9')
			return 0;
		errno = 0;
		unsigned long long x = strtoull(v, &end, 10);
		if (*end || errno || x > SIZE_MAX)
			return 0;
		*n = (size_t)x;
	}
	return 1;
}

hu_status
hu_onnx_external(hu_onnx *m, const Hu__Onnx__Pb__Tensor *pb, const char *name, size_t n, const void **data)
{
	const char *location = NULL;
	size_t at, length, i = 0;

	for (size_t k = 0; k < pb->n_external_data; k++)
		if (pb->external_data[k]->key && !strcmp(pb->external_data[k]->key, "location"))
			location = pb->external_data[k]->value;
	if (!location || !number(pb, "offset", 0, &at) || !number(pb, "length", n, &length))
		return hu_fail(HU_EFILE,
			"%s: tensor '%.200s' lies in another file, and its location, offset and length do not say "
			"where",
			m->path, name);
	while (i < m->nmap && strcmp(m->map[i].location, location))
		i++;
	if (i == m->nmap) {
		HU_GROW(m->map, m->nmap, m->mapcap);
		HU_TRY(map_file(&m->map[i], m, location, name));
		m->nmap++;
	}
	if (length != n)
		return hu_fail(HU_EFILE,
			"%s: tensor '%.200s' has %zu bytes in '%.200s' and its shape and type need %zu", m->path, name,
			length, location, n);
	if (at > m->map[i].n || n > m->map[i].n - at)
		return hu_fail(HU_EFILE,
			"%s: cut short: tensor '%.200s' needs %zu bytes from byte %zu of '%.200s', which ends at %zu",
			m->path, name, n, at, location, m->map[i].n);
	if (!n)
		return HU_OK;
	*data = (const char *)m->map[i].bytes + at;
	if (at % 16) { /* as aligned as any element is */
		void *copy = hu_onnx_own(m, n, 1);
		*data = memcpy(copy, *data, n);
	}
	return HU_OK;
}

void
hu_onnx_unmap(hu_onnx *m)
{
	for (size_t i = 0; i < m->nmap; i++) {
		if (m->map[i].bytes)
			hu_cut_forget(m->map[i].bytes);
		munmap(m->map[i].bytes, m->map[i].n);
		free(m->map[i].location);
	}
	free(m->map);
}

void
hu_onnx_rest(const hu_onnx *m)
{
	/* Nobody writes to the maps, so that their pages are the file's; a failure costs memory and nothing else. */
	for (size_t i = 0; i < m->nmap; i++)
		if (m->map[i].bytes)
			(void)madvise(m->map[i].bytes, m->map[i].n, MADV_DONTNEED);
}
