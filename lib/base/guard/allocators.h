/* SPDX-License-Identifier: Apache-2.0
   The allocators of libraries. Left to themselves, libraries answer a lack of memory by aborting (GMP), by leaving out
   what there was no memory for (Jansson, whose callers would have to look at every call), or by reading what was never
   written (libcrypto, below libzip). With these allocators each ends the program as mem.h does. */
#ifndef HU_BASE_ALLOCATORS_H
#define HU_BASE_ALLOCATORS_H

/* Gives GMP, with it MPFR, Jansson and, where it was loaded, libcrypto allocators that end the program with one line
   and HU_EXIT_ENV where there is no memory. For main, before any library is called. */
void hu_allocators_set(void);

/* Makes a state of xxHash's XXH3 (XXH3_createState), to be freed with XXH3_freeState. */
struct XXH3_state_s *hu_allocators_hash(void);

/* A protobuf-c allocator (ProtobufCAllocator) of the same kind, for its functions that take one. */
extern struct ProtobufCAllocator hu_allocators_protobuf;
#endif
