/* SPDX-License-Identifier: Apache-2.0
   What the program asks of an MPI library, as a table of functions. A module of its own, halfulp-mpi.so, holds the
   table and alone is linked with the library, so that a program that no mpirun has started never loads it, and one that
   was built without MPI differs in that file only. */
#ifndef HU_BASE_WIRE_H
#define HU_BASE_WIRE_H

#include <stddef.h>

/* Data are bytes, of any number: longer messages than MPI counts travel in pieces. Tags are from 0 to 32767. The
   library ends the whole job where it fails. */
typedef struct hu_wire {
	/* local: how many ranks are on this machine; place: which of them this one is, from 0 */
	void (*open)(int *rank, int *size, int *local, int *place, char *library, size_t room);
	void (*close)(void);
	void (*send)(int to, int tag, const void *data, size_t bytes);
	/* send without waiting: data must stay as it is until `sent`, which waits for all of them */
	void (*post)(int to, int tag, const void *data, size_t bytes);
	void (*sent)(void);
	void (*receive)(int from, int tag, void *data, size_t bytes);
	/* receive without waiting, of at most 2^30 bytes: data must be left alone until `arrived` says 1 of the handle,
	   which is then no more */
	void *(*begin)(int from, int tag, void *data, size_t bytes);
	int (*arrived)(void *handle);
	size_t (*next)(int *from, int tag); /* waits for a message; *from may be -1, and becomes its sender */
	int (*waits)(int tag);                      /* 1 where a message waits that `next` would not wait for */
	void (*broadcast)(int root, void *data, size_t bytes);
	void (*gather)(int root, const void *own, size_t bytes, void *all);
	void (*barrier)(void);
	void (*abort)(int code);
} hu_wire;

/* The module's one symbol is `hu_wire_mpi`, of this type. */
#endif
