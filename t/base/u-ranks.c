/* SPDX-License-Identifier: Apache-2.0
   Ranks: what the environment says of them, and one process alone. Started with an argument by mpirun (t-ranks.py), it
   is one of several ranks and does what the argument names. */
#include "lib/base/terminal/excerpts.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/ranks/united.h"
#include "t/tool/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 3 << 20 };

static void
environment(const char *size, const char *n, const char *rank, const char *k, int want, int own)
{
	setenv(size, n, 1);
	setenv(rank, k, 1);
	is_int(hu_ranks_started(), want, "%s=%s %s=%s: so many ranks", size, n, rank, k);
	is_int(hu_ranks_own(), own, "and this is their number");
	unsetenv(size);
	unsetenv(rank);
}

/* Arrays of 0 to 40 elements, cut in grains of 1 to 9: each element is filled once, and all ranks get it. Returns how
   many are not as they should be. */
static int
united(void)
{
	int wrong = 0, ranks = hu_ranks_united(), own = hu_ranks_rank(), array[40];
	size_t n = 40, most = 0, first, last;

	for (n = 0; n <= 40; n += 8)
		for (size_t grain = 1; grain < 10; grain += 4) {
			hu_ranks_slice(n, grain, &first, &last);
			wrong += first > last || last > n || (first < n && first % grain) || (last < n && last % grain);
			wrong += last - first > (n / grain / (size_t)ranks + 2) * grain;
			for (size_t i = 0; i < 40; i++)
				array[i] = i >= first && i < last ? 1000 * own + (int)i : -1;
			hu_ranks_assemble(array, n, grain, sizeof *array);
			for (size_t i = 0; i < 40; i++)
				wrong += i < n ? array[i] % 1000 != (int)i : array[i] != -1;
			for (size_t i = 0; n == 40 && i < n; i++)
				most = (size_t)array[i] / 1000 > most ? (size_t)array[i] / 1000 : most;
		}
	wrong += most != (size_t)ranks - 1 || hu_ranks_all(1) != 1 || hu_ranks_all(own != ranks - 1) != 0;
	return wrong;
}

/* Texts that differ at every place of a long text of letters of one to three bytes, and in their lengths alone. */
static int
parted(void)
{
	static const char letters[3][4] = { "a", "\303\274", "\342\202\254" };
	char a[400] = "", b[408];
	int wrong = 0;

	for (int i = 0; i < 120; i++) {
		hu_excerpts w = hu_excerpts_of(a, "");
		wrong += !hu_plain(w.a) || *w.b;
		for (int from = 0; from < i; from++) {
			memcpy(b, a, sizeof a);
			b[2 * from] = b[2 * from] == 'a' ? 'b' : 'a'; /* may cut a letter of b, and never one of a */
			w = hu_excerpts_of(a, b);
			wrong += !hu_plain(w.a) || !strcmp(w.a, w.b);
		}
		strcat(a, letters[i % 3]);
	}
	return wrong;
}

static int
alone(void)
{
	char text[] = "as it was", got[sizeof text];

	environment("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "3", 4, 3);
	environment("PMI_SIZE", "2", "PMI_RANK", "1", 2, 1);
	environment("MV2_COMM_WORLD_SIZE", "5", "MV2_COMM_WORLD_RANK", "0", 5, 0);
	environment("SLURM_STEP_NUM_TASKS", "7", "PMIX_RANK", "6", 7, 6);
	environment("OMPI_COMM_WORLD_SIZE", "4x", "OMPI_COMM_WORLD_RANK", "3", 1, 0);
	environment("OMPI_COMM_WORLD_SIZE", "2", "OMPI_COMM_WORLD_RANK", "2", 1, 0);
	environment("SLURM_STEP_NUM_TASKS", "7", "SLURM_PROCID", "6", 1, 0);
	setenv("HALFULP_MPI", "none", 1);
	environment("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "3", 1, 0);
	unsetenv("HALFULP_MPI");
	is_int(hu_ranks_open(), HU_OK, "a process alone joins nobody");
	is_int(hu_ranks_size(), 1, "and is one rank");
	is_int(hu_ranks_rank(), 0, "number 0");
	hu_ranks_broadcast(0, text, sizeof text);
	hu_ranks_gather(0, text, sizeof text, got);
	hu_ranks_barrier();
	is_text(got, "as it was", "what it gathers is its own");
	is_int(hu_ranks_agree(HU_EIO), HU_EIO, "it agrees with itself");
	is_int(hu_ranks_same("text", text), HU_OK, "and has the same text as itself");
	hu_excerpts w = hu_excerpts_of("seed 1", "seed 1, and 2");
	is_text(w.a, "seed 1", "of two short texts all is shown");
	is_text(w.b, "seed 1, and 2", "also where one is the beginning of the other");
	is_int(parted(), 0, "of long ones where they differ, in whole letters");
	hu_ranks_unite(1);
	is_int(united(), 0, "united with nobody, it fills whole arrays");
	hu_ranks_unite(0);
	return done_testing();
}

/* Returns 1 where the seconds that messages took are fewer than before. */
static int
fell(double *seconds)
{
	double before = *seconds;

	*seconds = hu_ranks_moved().seconds;
	return !(*seconds >= before);
}

/* Every rank sends every other a message of its own, of a size of its own, that nothing but its content names. */
static int
exchange(void)
{
	int n = hu_ranks_size(), own = hu_ranks_rank(), wrong = 0, senders = 0;
	unsigned char *out = malloc(LARGE), *in = malloc(LARGE), all[64];
	double seconds = 0;

	for (size_t i = 0; i < LARGE; i++)
		out[i] = (unsigned char)(i * 31 + (size_t)own);
	for (int k = 0; k < n; k++)
		if (k != own)
			hu_ranks_post(k, 5, out, LARGE - (size_t)own);
	wrong += fell(&seconds);
	for (int k = 1; k < n; k++) {
		int from = -1;
		size_t bytes = hu_ranks_next(&from, 5);
		if (k % 2) {
			void *handle = hu_ranks_begin(from, 5, in, bytes);
			for (double start = hu_now(); !hu_ranks_arrived(handle);)
				hu_ranks_nap(start);
		} else
			hu_ranks_receive(from, 5, in, bytes);
		wrong += fell(&seconds);
		wrong += bytes != LARGE - (size_t)from;
		for (size_t i = 0; i < bytes; i++)
			wrong += in[i] != (unsigned char)(i * 31 + (size_t)from);
		senders |= 1 << from;
	}
	hu_ranks_sent();
	wrong += fell(&seconds);
	if (own == 0 && n > 1)
		hu_ranks_send(1, 6, out, 1000);
	if (own == 1)
		hu_ranks_receive(0, 6, in, 1000);
	wrong += fell(&seconds);
	wrong += senders != (1 << n) - 1 - (1 << own);
	memset(in, own == n - 1 ? 77 : 0, 1000);
	hu_ranks_broadcast(n - 1, in, 1000);
	wrong += in[0] != 77 || in[999] != 77;
	out[0] = (unsigned char)(own + 1);
	hu_ranks_gather(0, out, 1, all);
	for (int k = 0; k < n && !own; k++)
		wrong += all[k] != k + 1;
	hu_ranks_barrier();
	wrong += hu_ranks_united() != 1;
	hu_ranks_unite(1);
	wrong += hu_ranks_united() != n || united();
	hu_ranks_unite(0);
	hu_ranks_traffic t = hu_ranks_moved();
	/* what the others posted here, and at least a byte or 1000 of the collectives */
	wrong += !(t.received >= (n - 1) * (LARGE - (double)n)) || !(t.seconds > 0);
	double own_bytes[] = { t.sent, t.received }, bytes[2 * 16], more = 0;
	hu_ranks_gather(0, own_bytes, sizeof own_bytes, bytes);
	for (int k = 0; k < n && !own; k++)
		more += bytes[2 * k] - bytes[2 * k + 1];
	wrong += more != 0;
	free(out);
	free(in);
	return wrong;
}

/* Texts of some thousand characters, of other lengths, of which only the last words differ. */
static hu_status
same_long(void)
{
	int own = hu_ranks_rank();
	char text[6000];
	size_t n = 0;

	for (int i = 0; n < 5000; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "word%d ", i);
	snprintf(text + n, sizeof text - n, "and sample 2048, %s", own == 2 ? "seed 12 then" : "seed 1");
	return hu_ranks_same("text", text);
}

static int
as_rank(const char *what)
{
	hu_status st = hu_ranks_open();
	int own = hu_ranks_rank();

	if (st != HU_OK)
		return hu_exit_code(st);
	if (!strcmp(what, "exchange"))
		st = hu_ranks_agree(exchange() ? hu_fail(HU_EFILE, "a message is wrong") : HU_OK);
	else if (!strcmp(what, "agree"))
		st = hu_ranks_agree(own ? hu_fail(own == 2 ? HU_EFILE : HU_EINVAL, "reason %d", own) : HU_OK);
	else if (!strcmp(what, "same"))
		st = hu_ranks_same("version", own == 1 ? "2" : "1");
	else if (!strcmp(what, "same-long"))
		st = same_long();
	else if (!strcmp(what, "die") && own == 1)
		raise(SIGKILL);
	else if (!strcmp(what, "die"))
		hu_ranks_barrier();
	else if (!strcmp(what, "give-up") && own == 1) {
		hu_fail(HU_EFILE, "unreadable");
		printf("speaks %d: %s\n", hu_ranks_speaks(), hu_reason());
		fflush(stdout);
		hu_ranks_give_up(3);
	} else
		hu_ranks_barrier();
	if (!own)
		printf("rank 0 of %d, library %d: status %d: %s\n", hu_ranks_size(), *hu_ranks_library() != 0, (int)st,
			st == HU_OK ? "fine" : hu_reason());
	hu_ranks_close();
	return own ? 0 : hu_exit_code(st);
}

int
main(int argc, char **argv)
{
	return argc > 1 ? as_rank(argv[1]) : alone();
}
