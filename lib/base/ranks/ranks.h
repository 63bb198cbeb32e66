/* SPDX-License-Identifier: Apache-2.0
   The processes that mpirun or srun started together: how many they are, which of them this one is, and messages
   between them, as bytes. A process that was started alone is one rank, 0 of 1, and all below works and costs nothing
   there. One thread at a time may send or receive. */
#ifndef HU_BASE_RANKS_H
#define HU_BASE_RANKS_H

#include "lib/base/status.h"

#include <stddef.h>

/* How many processes were started together, and the number of this one, as the environment says (lib/base/ranks/
   starters.def): without MPI, and before hu_ranks_open. HALFULP_MPI=none says that this one is alone. */
int hu_ranks_started(void);
int hu_ranks_own(void);

/* Joins the others. It does nothing where there are none or it was called before. HU_EUNABLE where this build has no
   MPI or its library cannot be loaded. Collective: every rank calls it, as it calls hu_ranks_agree, broadcast, gather
   and barrier, in the same order. hu_command_main closes. */
hu_status hu_ranks_open(void);
void hu_ranks_close(void);
/* Where the module that speaks MPI lies: HALFULP_MPI's value, beside the program, or where it was installed. NULL: it
   was not built. The caller frees. */
char *hu_ranks_module(void);

/* 1 and 0 before hu_ranks_open. */
int hu_ranks_size(void);
int hu_ranks_rank(void);
/* How many ranks share this machine, and which of them this one is, from 0. */
int hu_ranks_local(void);
int hu_ranks_place(void);
/* The MPI library's name and version, "" where none is open. */
const char *hu_ranks_library(void);

/* From now on (1) this rank works as if it had been started alone: it is 0 of 1, and what is collective involves nobody
   else; or it is one of the ranks again (0). For work that others do not take part in though its code would share
   it. */
void hu_ranks_withdraw(int on);

/* Messages: bytes, to a rank, under a tag of 0 to 32767. A message is received whole, with the size that was sent, and
   those of one sender and tag arrive in the order sent. No rank sends itself any. A failure of the network ends the
   whole job. */
void hu_ranks_send(int to, int tag, const void *data, size_t bytes);
/* Begins to send. The data must not change until hu_ranks_sent, which waits for all that was begun. */
void hu_ranks_post(int to, int tag, const void *data, size_t bytes);
void hu_ranks_sent(void);
void hu_ranks_receive(int from, int tag, void *data, size_t bytes);
/* The most bytes of a message whose size its receiver learns by hu_ranks_next. */
enum { HU_RANKS_MOST = 1 << 30 };
/* Waits until a message under this tag can be received, and returns its size, at most HU_RANKS_MOST; *from is the
   sender awaited, -1 for any, and becomes the one that there is. */
size_t hu_ranks_next(int *from, int tag);

/* Begins to receive such a message, which may need both sides to come back to this interface until it is there: data
   must be left alone until arrived, which does not wait, returns 1 of the handle, for the last time. */
void *hu_ranks_begin(int from, int tag, void *data, size_t bytes);
int hu_ranks_arrived(void *handle);

/* Returns 1 where such a message is there already, from any rank. */
int hu_ranks_waits(int tag);
/* Waits for that, asleep: MPI itself waits busily, and where ranks are more than cores takes those from ranks that
   compute. */
void hu_ranks_await(int tag);
/* Sleeps for a small part of the time since `start` (hu_now), when a wait began: for a loop that asks repeatedly. */
void hu_ranks_nap(double start);

/* Collective. gather puts the ranks' pieces of the same size side by side in `all`, which only root needs. */
void hu_ranks_broadcast(int root, void *data, size_t bytes);
void hu_ranks_gather(int root, const void *own, size_t bytes, void *all);
void hu_ranks_barrier(void);
/* Collective: returns HU_OK on every rank if st is that on every rank, else on every rank the status of the first that
   failed, with its reason. The command then ends on every rank, and rank 0 alone says why. */
hu_status hu_ranks_agree(hu_status st);
/* Collective: fails as hu_ranks_agree does, with HU_EFILE, where a rank's text, of any length, is not that of rank 0;
   the reason shows where the two differ. what says what the text is: "version", "data". */
hu_status hu_ranks_same(const char *what, const char *text);

/* Bytes that this rank has sent and received by the functions above, and the seconds that it has spent in them. A
   broadcast counts for its root once for each rank that receives it, and never for ranks that pass it on. */
typedef struct hu_ranks_traffic { double sent, received, seconds; } hu_ranks_traffic;
hu_ranks_traffic hu_ranks_moved(void);

/* For hu_complain. Says what becomes of a failure here: it is printed by this rank (1), or left to rank 0 (0),
   unless that has nothing to say. */
int hu_ranks_speaks(void);
/* Where the others do not know of this rank's failure: ends all of them, with this exit code. Returns elsewhere. */
void hu_ranks_give_up(int code);
#endif
