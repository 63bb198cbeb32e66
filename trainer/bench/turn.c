/* SPDX-License-Identifier: Apache-2.0
   Turns of the processes of a machine: who holds the kernel's lock on a file in the folder for temporary files, which
   machines do not share, has the turn. The kernel releases the lock of a process that ends. */
#include "lib/base/terminal/progress.h"
#include "lib/base/mem.h"
#include "lib/base/parts/share.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/bench/bench_units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

void
hu_bench_turn_take(int *turn)
{
	const char *folder = getenv("TMPDIR");
	char *path = hu_xprintf("%s/halfulp-bench-%lu.lock", folder && *folder ? folder : "/tmp",
		(unsigned long)getuid());
	double start = hu_now();

	*turn = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	while (*turn >= 0 && flock(*turn, LOCK_EX | LOCK_NB) && (errno == EWOULDBLOCK || errno == EINTR)) {
		hu_share_answer(); /* rank 0 deals units out while it waits */
		hu_ranks_nap(start);
	}
}

void
hu_bench_turn_give(int turn)
{
	if (turn >= 0)
		close(turn);
}
