/* SPDX-License-Identifier: Apache-2.0
   Draws a signal: a waveform of random frequency, phase and amplitude, seen by two detectors in noise. Sines come from
   turning a unit vector by rational rotations, since libm's last bits differ between machines. */
#include "trainer/data/drawn/signals.h"

#include "lib/base/bug.h"
#include "lib/base/hash.h"
#include "trainer/data/drawn/dice.h"

enum { SINE, SQUARE, TRIANGLE, SAWTOOTH, RISING, DECAYING, BURST, BEAT };

/* A unit vector; its y is the sine of its angle. */
typedef struct arm { double x, y; } arm;

/* Turns a by the angle 2·atan(t). */
static arm
turned(arm a, double t)
{
	double c = (1 - t * t) / (1 + t * t), s = 2 * t / (1 + t * t);

	return (arm){ c * a.x - s * a.y, s * a.x + c * a.y };
}

typedef struct wave {
	int kind;
	double periods;    /* periods in all samples, for those waveforms that have one */
	double phase;      /* of the first sample, in periods, 0 to 1 */
	double turn, grow; /* half the angle's tangent of one sample's turn, and how much a rising tone adds a sample */
	double at, width;  /* middle and width of a burst, start and decay of a decaying tone, in samples */
	arm arm, slow;     /* of the tone, and of the beat's envelope */
	double slow_turn;
} wave;

static arm
random_arm(hu_dice *d)
{
	arm a = { 1, 0 };

	for (int i = 0; i < 3; i++) /* up to three half turns either way: every angle occurs */
		a = turned(a, hu_dice_uniform(d));
	return a;
}

static wave
take_wave(int kind, hu_dice *d)
{
	wave w = { .kind = kind };

	w.periods = 12 + 7 * hu_dice_uniform(d);
	w.phase = 0.5 + 0.5 * hu_dice_uniform(d);
	/* A small angle's half tangent is about half of it: pi periods / samples. */
	w.turn = 3.141592653589793 * w.periods / HU_SIGNAL_SAMPLES;
	w.grow = w.turn * (1.5 + 0.7 * hu_dice_uniform(d)) / HU_SIGNAL_SAMPLES;
	w.at = HU_SIGNAL_SAMPLES * (0.5 + 0.25 * hu_dice_uniform(d));
	w.width = HU_SIGNAL_SAMPLES * (0.08 + 0.03 * hu_dice_uniform(d));
	w.arm = random_arm(d);
	w.slow = random_arm(d);
	w.slow_turn = w.turn * (0.17 + 0.06 * hu_dice_uniform(d));
	if (kind == DECAYING)
		w.at *= 0.4;
	if (kind == RISING)
		w.turn *= 0.5;
	return w;
}

/* Returns the part of the period that sample i stands in, 0 to 1. */
static double
part(const wave *w, int i)
{
	double p = w->phase + i * w->periods / HU_SIGNAL_SAMPLES;

	return p - (int)p;
}

/* Returns sample i; samples are asked for one after another. */
static double
next(wave *w, int i)
{
	double p = part(w, i), y = w->arm.y, z;

	w->arm = turned(w->arm, w->turn + (w->kind == RISING ? i * w->grow : 0));
	switch (w->kind) {
	case SQUARE:
		return p < 0.5 ? 1 : -1;
	case TRIANGLE:
		return 1.7 * (p < 0.5 ? 4 * p - 1 : 3 - 4 * p);
	case SAWTOOTH:
		return 1.7 * (2 * p - 1);
	case DECAYING: /* 1/(1 + z)³ falls like an exponential, and is rational */
		z = (i - w->at) / (3 * w->width);
		return z < 0 ? 0 : 3 * y / ((1 + z) * (1 + z) * (1 + z));
	case BURST: /* 1/(1 + z²)² is bell-shaped */
		z = (i - w->at) / w->width;
		return 2.5 * y / ((1 + z * z) * (1 + z * z));
	case BEAT:
		z = w->slow.y;
		w->slow = turned(w->slow, w->slow_turn);
		return 2 * y * z;
	case SINE:
	case RISING: return 1.4 * y;
	default: HU_ASSERT(!"a class of signals has its wave here"); return 0;
	}
}

int
hu_signals_draw(float *samples, uint64_t seed, uint64_t index)
{
	hu_dice d = { .seed = seed, .index = index, .stream = hu_fnv1a32("data/signals") };
	int kind = (int)hu_dice_below(&d, HU_SIGNAL_CLASSES), later = (int)hu_dice_below(&d, 20);
	double gain = 0.8 + 0.25 * hu_dice_uniform(&d), weaker = 0.7 + 0.25 * hu_dice_uniform(&d),
	       noise = 0.45 + 0.25 * hu_dice_uniform(&d);
	double clean[HU_SIGNAL_SAMPLES + 20];
	wave w = take_wave(kind, &d);

	for (int i = 0; i < HU_SIGNAL_SAMPLES + later; i++)
		clean[i] = next(&w, i - later);
	for (int i = 0; i < HU_SIGNAL_SAMPLES; i++) {
		samples[2 * i] = (float)(gain * clean[i + later] + noise * hu_dice_bell(&d));
		samples[2 * i + 1] = (float)(gain * weaker * clean[i] + noise * hu_dice_bell(&d));
	}
	return kind;
}
