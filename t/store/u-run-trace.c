/* SPDX-License-Identifier: Apache-2.0
   A traced step mapped from its file has the values of one that is read, bit for bit, whether what is
   unpacked lies in memory or in a file, before and after its pages were given back; and a file
   that does not fit the program is refused. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/run_trace.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

static int
halfulp(const char *line)
{
	const char *program = getenv("HALFULP");
	char *command = hu_xprintf("'%s' %s", program ? program : "./halfulp", line);
	int status = system(command);

	free(command);
	return status;
}

/* Tensors whose bits differ, or that only one of the two has. */
static int
differing(const hu_run *r, const hu_tensor *a, const hu_tensor *b, int *recorded)
{
	int bad = 0;

	*recorded = 0;
	for (int i = 0; i < r->train->nt; i++) {
		*recorded += a[i].data != NULL;
		if (!a[i].data != !b[i].data ||
			(a[i].data && (a[i].n != b[i].n ||
					      memcmp(a[i].data, b[i].data, a[i].n * hu_element_size(a[i].format)))))
			bad++;
	}
	return bad;
}

static void
compare(const hu_run *r, size_t in_memory, const char *what)
{
	hu_run_trace m;
	hu_tensor *t;
	int recorded = 0, bad = 1, cooled = 1, spilled = 0, unread = 0;

	if (hu_run_load_trace(r, 2, &t) != HU_OK)
		bail_out("%s", hu_reason());
	if (hu_run_map_trace(r, 2, in_memory, &m) == HU_OK) {
		unread = differing(r, t, m.t, &recorded);
		for (int i = r->train->nt - 1; i >= 0; i--)
			if (hu_run_trace_need(&m, i) != HU_OK)
				bail_out("%s", hu_reason());
		bad = differing(r, t, m.t, &recorded);
		spilled = m.in_file;
		hu_run_trace_cool(&m);
		cooled = differing(r, t, m.t, &recorded);
		hu_run_unmap_trace(&m);
	}
	ok(unread > 10 && !bad && !cooled && recorded > 50 && spilled == (in_memory == 0),
		"%s: the same bits in all %d tensors, also after their pages were given back; %d are unpacked only "
		"when asked for", what, recorded, unread);
	hu_run_free_trace(r, t);
}

int
main(void)
{
	char *path = hu_path(test_dir(), "run"),
	     *line = hu_xprintf("train --quiet --model convnet:width=0.0625 --data size=8,train=64 --data eval=16 "
				"--batch 8 "
				"--steps 3 --trace steps=last --policy mixed_float16 '%s' >/dev/null",
		     path);
	hu_run r;
	hu_run_trace m;

	if (halfulp(line) || hu_run_open(&r, path) != HU_OK)
		bail_out("no run: %s", hu_reason());
	compare(&r, HU_RUN_TRACE_IN_MEMORY, "in memory");
	compare(&r, 0, "in a file");
	ok(hu_run_map_trace(&r, 77, 0, &m) == HU_EFILE, "a step that was not traced: %s", hu_reason());
	for (int i = 0; i < r.train->nt; i++)
		if (r.train->t[i].shape.rank == 4)
			r.train->t[i].shape.d[0]++;
	ok(hu_run_map_trace(&r, 2, 0, &m) == HU_EFILE && strstr(hu_reason(), "the program says"),
		"shapes that are not the program's: %s", hu_reason());
	hu_run_release(&r);
	free(line);
	free(path);
	return done_testing();
}
