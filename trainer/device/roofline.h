/* SPDX-License-Identifier: Apache-2.0
   What a call must take on a device at least: its operations over the peak rate of its formats, its
   bytes over the bandwidth, one launch (Williams, Waterman and Patterson, Roofline, CACM 2009). */
#ifndef HU_TRAINER_ROOFLINE_H
#define HU_TRAINER_ROOFLINE_H

#include "lib/program/program.h"

enum { HU_NEAR = 7 };

typedef struct hu_peaks {
	const char *id, *name;
	int capability;                       /* times ten; 0: a processor */
	double gib, gb_s;
	double fp64, fp32, tf32, fp16, bf16, fp8;   /* TFLOP/s */
	double launch_us;
	int align;
	const char *source;
	/* Of a processor, whose caches are faster than its memory: what data of so many bytes give, ascending in bytes
	   and descending in GB/s. 0 bytes: no more rows. */
	struct { double bytes, gb_s; } near[HU_NEAR];
} hu_peaks;

/* Time between two launches that follow each other in a stream, in microseconds, where nothing better is known: what
   an asynchronous kernel launch costs the host on the drivers and machines of these devices. */
#define HU_LAUNCH_US 5.0

enum { HU_LIMIT_ARITHMETIC, HU_LIMIT_MEMORY, HU_LIMIT_LAUNCH };

/* Seconds. total is the largest of the three, since all go on at once; limit says which. odd: the extent that keeps
   the call off the matrix units or slows it down there ("channels 3"), "" where all fit. */
typedef struct hu_roof { double arithmetic, memory, launch, total; int limit; char odd[48]; } hu_roof;

/* HU_EINVAL names the nearest. i past the last: NULL. */
hu_status hu_peaks_find(const char *id, hu_peaks *out);
const hu_peaks *hu_peaks_at(int i);
/* The row whose id's words stand in `name`, a driver's ("NVIDIA H200"), most of them; of equals the one whose memory is
   nearest to bytes. NULL: none. */
const hu_peaks *hu_peaks_of_name(const char *name, double bytes);
const char *hu_limit_name(int limit);

/* FLOP/s of the calls' products in format f. */
double hu_peaks_rate(const hu_peaks *d, hu_format_id f);
/* Bytes a second that a call moving bytes has at most: those of data half as large, since a part of its own may lie in
   a nearer cache. */
double hu_peaks_bandwidth(const hu_peaks *d, double bytes);
hu_roof hu_roofline(const hu_peaks *d, const hu_program *p, const hu_call *c);
#endif
