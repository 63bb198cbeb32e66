/* SPDX-License-Identifier: Apache-2.0
   .npz: archives that libzip writes as NumPy does, stored and deflated, one array of several, and what is refused. */
#include "lib/store/npz.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

static char *path;

/* Writes PATH: N members NAME, each the .npy file FROM (NULL: a line of text), every second one deflated. */
static void
archive(int n, const char *const *name, const char *from)
{
	zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	char *data = hu_xstrdup("no array\n");
	size_t size = strlen(data);

	if (from) {
		free(data);
		if (hu_file_read(from, &data, &size) != HU_OK)
			bail_out("%s", hu_reason());
	}
	for (int i = 0; zip && i < n; i++) {
		zip_int64_t at = zip_file_add(zip, name[i], zip_source_buffer(zip, data, size, 0), 0);
		zip_set_file_compression(zip, (zip_uint64_t)at, i % 2 ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
	}
	if (!zip || zip_close(zip))
		bail_out("%s cannot be written", path);
	free(data);
}

static hu_status
pick(hu_npy *a, const char *name)
{
	char *spec = name ? hu_xprintf("%s:%s", path, name) : hu_xstrdup(path);
	hu_status st = hu_npz_pick(a, spec);

	free(spec);
	return st;
}

static void
test_refused(const char *npy)
{
	char *data;
	size_t size;
	hu_npz z;
	hu_npy a;

	archive(1, (const char *const[]){ "a.txt" }, npy);
	ok(hu_npz_read(&z, path) == HU_EFILE && strstr(hu_reason(), "a.txt is no .npy file"),
		"a member of another kind: %s", hu_reason());
	archive(1, (const char *const[]){ "a.npy" }, NULL);
	ok(hu_npz_read(&z, path) == HU_EFILE && strstr(hu_reason(), "a.npy: byte 0"), "a member that is no array: %s",
		hu_reason());
	archive(2, (const char *const[]){ "a.npy", "b.npy" }, npy);
	if (hu_file_read(path, &data, &size) != HU_OK)
		bail_out("%s", hu_reason());
	data[30 + 5 + 128 + 3] ^= 1; /* local header, name, .npy header: in the first array's data */
	ok(hu_npz_parse(&z, "f", data, size) == HU_EFILE && strstr(hu_reason(), "CRC"), "a wrong checksum: %s",
		hu_reason());
	ok(hu_npz_parse(&z, "f", data, size - 7) == HU_EFILE, "cut short: %s", hu_reason());
	free(data);
	ok(pick(&a, NULL) == HU_EFILE && strstr(hu_reason(), "takes one of a b"), "several arrays and no name: %s",
		hu_reason());
	ok(pick(&a, "c") == HU_EFILE && strstr(hu_reason(), "there are a b"), "a name that is not there: %s",
		hu_reason());
}

int
main(void)
{
	static const double v[6] = { 1, 2, 3, 4, 5, 1e300 };
	char *npy = hu_path(test_dir(), "v.npy");
	hu_npz z;
	hu_npy a;

	path = hu_path(test_dir(), "v.npz");
	if (hu_npy_write(npy, "f8", 2, (size_t[]){ 2, 3 }, v) != HU_OK)
		bail_out("%s", hu_reason());
	archive(3, (const char *const[]){ "w.npy", "layer/b.npy", "arr_0.npy" }, npy);
	if (ok(hu_npz_read(&z, path) == HU_OK && z.n == 3, "three arrays, stored and deflated")) {
		ok(!strcmp(z.name[0], "w") && !strcmp(z.name[1], "layer/b") && !strcmp(z.name[2], "arr_0"),
			"their names");
		for (size_t i = 0; i < z.n; i++)
			ok(z.array[i].rank == 2 && z.array[i].count == 6 && !memcmp(z.array[i].data, v, sizeof v),
				"array %zu", i);
		hu_npz_release(&z);
	}
	ok(pick(&a, "layer/b") == HU_OK && a.count == 6, "one by name");
	hu_npy_release(&a);
	ok(hu_npz_pick(&a, npy) == HU_OK && a.count == 6, "a .npy file as itself");
	hu_npy_release(&a);
	archive(1, (const char *const[]){ "x.npy" }, npy);
	ok(pick(&a, NULL) == HU_OK && a.count == 6, "the only one, without a name");
	hu_npy_release(&a);
	test_refused(npy);
	free(npy);
	free(path);
	return done_testing();
}
