/* SPDX-License-Identifier: Apache-2.0
   Draws one signal at a time, for the data set "signals" and its tests. */
#ifndef HU_TRAINER_DATA_DRAWN_SIGNALS_H
#define HU_TRAINER_DATA_DRAWN_SIGNALS_H

#include <stddef.h>
#include <stdint.h>

enum { HU_SIGNAL_SAMPLES = 500, HU_SIGNAL_CHANNELS = 2, HU_SIGNAL_CLASSES = 8 };

/* Draws signal index of seed, two detectors' samples side by side, [sample][channel], with about unit variance; returns
   its class: 0 sine, 1 square, 2 triangle, 3 saw-tooth, 4 rising tone, 5 decaying tone, 6 burst, 7 beat. The second
   channel has the waveform later and weaker, and noise of its own. A pure function of its arguments, the same bits on
   every machine: Philox, and only + - * / of doubles, rounded once to float. Safe to call from several threads. */
int hu_signals_draw(float *samples, uint64_t seed, uint64_t index);
#endif
