/* SPDX-License-Identifier: Apache-2.0
   The roofline model (Williams, Waterman and Patterson, CACM 2009): a call takes at least its operations over the peak
   rate of its formats, its bytes over the memory bandwidth, and one launch. */
#ifndef HU_CUDA_ROOFLINE_H
#define HU_CUDA_ROOFLINE_H

#include "lib/program/program.h"

enum { HU_NEAR = 7 };

typedef struct hu_peaks {
	const char *id, *name;
	int capability;                       /* compute capability times ten; 0 for a processor */
	double gib, gb_s;
	double fp64, fp32, tf32, fp16, bf16, fp8, int8; /* TFLOP/s */
	double launch_us;
	int align;
	const char *source;
	/* The bandwidth of a processor for data of so many bytes, since its caches are faster than its memory: bytes
	   ascend and gb_s descends. The first row with 0 bytes ends the table. */
	struct { double bytes, gb_s; } near[HU_NEAR];
} hu_peaks;

/* The time between two launches that follow each other in a stream, in microseconds, where nothing better is known: it
   is what an asynchronous kernel launch costs the host on the drivers and machines of these devices. */
#define HU_LAUNCH_US 5.0

enum { HU_LIMIT_ARITHMETIC, HU_LIMIT_MEMORY, HU_LIMIT_LAUNCH };

/* All in seconds. total is the largest of the three, since arithmetic, memory traffic and launches overlap; limit says
   which one it is. odd names the dimension that keeps the call off the matrix units or slows it down there ("channels
   3"); it is "" where every dimension fits. */
typedef struct hu_roof { double arithmetic, memory, launch, total; int limit; char odd[48]; } hu_roof;

/* 1 where ID is this machine, whose peaks are measured: "here" or "cpu", in any case. */
int hu_roofline_here(const char *id);
/* Finds a device by its id; HU_EINVAL names the nearest id. hu_peaks_at returns row i, or NULL past the last. */
hu_status hu_peaks_find(const char *id, hu_peaks *out);
const hu_peaks *hu_peaks_at(int i);
/* Returns the row whose id's words occur in `name`, a driver's name such as "NVIDIA H200"; where several rows match,
   the one with the most words, and of equals the one whose memory is nearest to `bytes`. NULL where none matches. */
const hu_peaks *hu_peaks_of_name(const char *name, double bytes);
const char *hu_limit_name(int limit);

/* Returns the FLOP/s of products in format f. */
double hu_peaks_rate(const hu_peaks *d, hu_format_id f);
/* Returns the most bytes per second that a call moving `bytes` bytes can reach: the bandwidth of data half as large,
   since a part of its data may lie in a nearer cache. */
double hu_peaks_bandwidth(const hu_peaks *d, double bytes);
hu_roof hu_roofline(const hu_peaks *d, const hu_program *p, const hu_call *c);
#endif
