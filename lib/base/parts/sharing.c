/* SPDX-License-Identifier: Apache-2.0
   What a process has found of a shared work: its units, and the part that keeps them. */
#include "lib/base/guard/ended.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/parts/share.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

size_t
hu_sharing_steps(const hu_share_work *w, int i)
{
	return w->steps ? w->steps[i] : 1;
}

void
hu_sharing_moved(hu_share_work *w, int i, int here)
{
	if (!here || !w->steps)
		hu_progress_step(&w->bar, hu_sharing_steps(w, i));
}

int
hu_sharing_has(const hu_sharing *s, int i)
{
	return s->there[i];
}

void
hu_sharing_add(hu_sharing *s, int i, double seconds, const char *found)
{
	char *name = s->work->name(s->work->of, i);

	hu_parts_add(&s->own, name, s->work->cost[i], seconds, found);
	s->there[i] = 1;
	free(name);
}

hu_status
hu_sharing_compute(hu_sharing *s, int i)
{
	double start = hu_now();
	hu_status st = HU_OK;
	hu_str found;

	if (hu_sharing_has(s, i))
		return HU_OK;
	hu_str_init(&found);
	st = s->work->compute(s->work->of, i, &found);
	if (st == HU_OK)
		hu_sharing_add(s, i, hu_now() - start, found.s);
	hu_str_release(&found);
	return st;
}

/* Names the part where it is there or is about to be, `part`; else the folder of other parts. */
static void
promise(const hu_sharing *s, int part)
{
	int several = hu_ranks_size() > 1;
	const char *where = part || hu_exists(s->path) ? s->path : s->work->folder;
	char *line = hu_xprintf("halfulp %s: a signal ended it%s; %s keeps what was found, and the same line with "
				"--resume goes on",
		s->work->command, several ? ", as it ends all ranks where one of them died" : "", hu_shown(where));

	if ((several || s->shard.n || s->work->keeps) && !hu_ranks_rank())
		hu_ended_says(line, where);
	free(line);
}

void
hu_sharing_promise(const hu_sharing *s)
{
	promise(s, 0);
}

static hu_status
save(const hu_sharing *s)
{
	char *shard = s->shard.n ? hu_xprintf("%d/%d", s->shard.i, s->shard.n) : NULL, *slash = strrchr(s->path, '/');
	hu_status st = HU_OK;

	if (slash) {
		char *folder = hu_xprintf("%.*s", (int)(slash - s->path), s->path);
		st = *folder ? hu_make_dirs(folder) : HU_OK;
		free(folder);
	}
	if (st == HU_OK) /* beforehand: a signal that comes when the part is there already finds what to say */
		promise(s, 1);
	if (st == HU_OK)
		st = hu_parts_save(&s->own, s->path, shard);
	free(shard);
	return st;
}

hu_status
hu_sharing_keep(hu_sharing *s, int now)
{
	double start = hu_now();

	if (!now && !s->work->keeps && (start - s->saved < 0.5 || start - s->saved < 20 * s->saving))
		return HU_OK;
	hu_status st = save(s);
	s->saved = hu_now();
	s->saving = s->saved - start;
	return st;
}
