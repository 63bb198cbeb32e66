/* SPDX-License-Identifier: Apache-2.0
   A training whose micro-batches several ranks share (lib/program/spread/). Rank 0 runs the training loop and records
   the run; its back end has the others do their part of each step and fetches from them what it is asked for, so that
   the loop, metrics and traces know nothing of ranks. The others serve it. */
#ifndef HU_TRAINER_RANKED_H
#define HU_TRAINER_RANKED_H

#include "lib/program/spread/backend.h"
#include "trainer/run/session.h"

/* The back end `of`, shared by the ranks: each executes its part of the steps there, and rank 0 also the evaluation. A
   session uses it where there are several; one such is in use at a time. It has no graphs, and no step runs while the
   one before is read. */
const hu_backend *hu_ranked_over(const hu_backend *of);
/* Sets the rows of a batch that this rank's micro-batches are. */
void hu_ranked_rows(hu_machine *m, size_t *first, size_t *rows);
/* Collective: connects the ranks for calls of a library, where the program has any. */
hu_status hu_ranked_join(hu_machine *m);

/* Refuses a configuration that ranks cannot share, for the options' reason: the same on every rank. */
hu_status hu_ranked_possible(const hu_config *c);
/* Collective: checks that all ranks have the same version, back end, options, data, program and first state. st is how
   this rank's preparation went; the result is the same on every rank. */
hu_status hu_ranked_agree(hu_session *s, hu_status st);
/* Rank 0, while the others serve it: hu_session_read_rows of all ranks together, so that rows and digest are those of
   one process that did these steps. Fails on all ranks where a row cannot be read on one. */
hu_status hu_ranked_read_rows(
	hu_session *s, size_t from, size_t to, int evaluated, size_t *rows, uint64_t *digest);
/* Compares what all ranks read with what the manifest of a run says of its own, which had done so many steps: HU_EFILE
   where they differ. A manifest that has no such digest, or one of another number of rows, is not compared. On rank 0,
   while the others serve it. */
hu_status hu_ranked_check_read(hu_session *s, const json_t *manifest, const char *run, size_t steps);
/* Collective: rank 0 prints a line where ranks share a device, if talk is set there. Nothing is wrong with that, but
   each takes memory on it and waits for its turn. */
void hu_ranked_say(const hu_session *s, int talk);
/* Ranks other than 0, after hu_ranked_agree: does what rank 0 asks for until hu_ranked_end there. */
hu_status hu_ranked_follow(hu_session *s);
/* Rank 0: ends the training on the other ranks, and writes what each of them had and moved to dir/ranks.tsv, unless
   dir is NULL. */
hu_status hu_ranked_end(const hu_session *s, const char *dir);
/* The manifest's "ranks"; NULL where there is one. */
json_t *hu_ranked_json(const hu_session *s);
#endif
