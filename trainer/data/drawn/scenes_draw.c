/* SPDX-License-Identifier: Apache-2.0
   Draws a scene: one coloured object, turned, moved and scaled at random, on ground of two octaves of value noise
   between two muted colours, under light that falls off to one side, with anti-aliasing, then noise. */
#include "trainer/data/drawn/scenes.h"

#include "lib/base/bug.h"
#include "lib/base/hash.h"
#include "trainer/data/drawn/dice.h"

enum {
	KINDS = 10,  /* shapes, colours, patterns */
	COARSE = 4,  /* knots of the ground's noise along a side, less one; */
	FINE = 11,   /* of its second octave */
	SAMPLES = 2  /* points along a pixel's side that decide how much of it the object covers */
};

typedef struct point { double x, y; } point;

static double magnitude(double x) { return x < 0 ? -x : x; }
static double larger(double x, double y) { return x > y ? x : y; }

static int
in_disc(point p, double x, double y, double radius)
{
	return (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y) <= radius * radius;
}

/* Returns 1 where p lies in the shape, which fills most of the disc of radius 1 about the origin. */
static int
inside(int shape, point p)
{
	double u = magnitude(p.x), v = magnitude(p.y);

	switch (shape) {
	case 0: /* a disc */
		return in_disc(p, 0, 0, 0.9);
	case 1: /* a square */
		return larger(u, v) <= 0.75;
	case 2: /* a triangle of equal sides */
		return p.y >= -0.5 && 0.8660254037844386 * u + 0.5 * p.y <= 0.5;
	case 3: /* a cross */
		return (u <= 0.27 && v <= 0.95) || (v <= 0.27 && u <= 0.95);
	case 4: /* a ring */
		return in_disc(p, 0, 0, 0.95) && !in_disc(p, 0, 0, 0.52);
	case 5: /* a bar */
		return u <= 1 && v <= 0.27;
	case 6: /* a crescent */
		return in_disc(p, 0, 0, 0.95) && !in_disc(p, 0.5, 0, 0.75);
	case 7: /* two discs */
		return in_disc(p, 0.55, 0, 0.42) || in_disc(p, -0.55, 0, 0.42);
	case 8: /* half a disc */
		return in_disc(p, 0, -0.4, 1) && p.y >= -0.4;
	case 9: /* an L */
		return larger(u, v) <= 0.85 && (p.x <= -0.35 || p.y <= -0.35);
	default: HU_ASSERT(!"a class of scenes has its shape here"); return 0;
	}
}

/* How bright the pattern is at p of the object: 1 or less. */
static double
pattern(int kind, point p)
{
	static const double bands[KINDS][2] = { { 0, 0 }, { 2, 0 }, { 4, 0 }, { 7, 0 }, { 2, 2 }, { 4, 4 }, { 7, 7 },
		{ 2, 7 }, { 2, 4 }, { 4, 7 } };
	int i = (int)((p.x + 2) * bands[kind][0]), j = (int)((p.y + 2) * bands[kind][1]);

	return kind && (i + j) % 2 ? 0.45 : 1;
}

/* Red, green and blue of the colours that tell classes apart. */
static const double colour[KINDS][3] = { { 225, 40, 40 }, { 40, 190, 60 }, { 50, 80, 230 }, { 235, 220, 40 },
	{ 205, 50, 205 }, { 40, 205, 215 }, { 245, 135, 25 }, { 245, 245, 245 }, { 110, 45, 150 }, { 20, 20, 25 } };

typedef struct scene {
	int shape, pattern;
	double paint[3], low[3], high[3];        /* colours of the object, and between which the ground's lie */
	double cosine, sine, radius, x, y;       /* of the object, in units of the image's side */
	double coarse[COARSE + 1][COARSE + 1], fine[FINE + 1][FINE + 1], rough;
	double light_x, light_y, noise;
} scene;

static void
take_object(scene *s, size_t class, size_t classes, hu_dice *d)
{
	size_t hue = classes > KINDS ? class / KINDS % KINDS : hu_dice_below(d, KINDS);
	double t = hu_dice_uniform(d), shade = 1 + 0.12 * hu_dice_uniform(d);

	s->shape = (int)(class % KINDS);
	s->pattern = (int)(class / (KINDS * KINDS));
	for (int k = 0; k < 3; k++)
		s->paint[k] = colour[hue][k] * shade + 8 * hu_dice_uniform(d);
	/* Up to a quarter turn either way, 2·atan(t) with |t| < tan(22.5°): rational in t, no sine needed. */
	t *= 0.4142135623730951;
	s->cosine = (1 - t * t) / (1 + t * t);
	s->sine = 2 * t / (1 + t * t);
	s->radius = 0.27 + 0.09 * hu_dice_uniform(d);
	s->x = 0.5 + (0.5 - s->radius) * 0.9 * hu_dice_uniform(d);
	s->y = 0.5 + (0.5 - s->radius) * 0.9 * hu_dice_uniform(d);
}

static void
take_ground(scene *s, hu_dice *d)
{
	double base = 115 + 45 * hu_dice_uniform(d), span = 22 + 12 * hu_dice_uniform(d);

	for (int k = 0; k < 3; k++) {
		double tint = base + 22 * hu_dice_uniform(d);
		s->low[k] = tint - span;
		s->high[k] = tint + span;
	}
	for (int i = 0; i <= COARSE; i++)
		for (int j = 0; j <= COARSE; j++)
			s->coarse[i][j] = hu_dice_uniform(d);
	for (int i = 0; i <= FINE; i++)
		for (int j = 0; j <= FINE; j++)
			s->fine[i][j] = hu_dice_uniform(d);
	s->rough = 0.5 + 0.3 * hu_dice_uniform(d);
	s->light_x = 0.25 * hu_dice_uniform(d);
	s->light_y = 0.25 * hu_dice_uniform(d);
	s->noise = 8 + 5 * hu_dice_uniform(d);
}

/* Interpolates between the four knots around the point; n is the number of knots along a side, less one. */
static double
between(const double *knot, int n, double x, double y)
{
	int i = (int)(y * n), j = (int)(x * n);
	double v = y * n - i, u = x * n - j;

	u = u * u * (3 - 2 * u);
	v = v * v * (3 - 2 * v);
	knot += i * (n + 1) + j;
	return (1 - v) * ((1 - u) * knot[0] + u * knot[1]) + v * ((1 - u) * knot[n + 1] + u * knot[n + 2]);
}

/* Returns the point of the image in the object's own coordinates. */
static point
to_object(const scene *s, double x, double y)
{
	double u = (x - s->x) / s->radius, v = (y - s->y) / s->radius;

	return (point){ s->cosine * u + s->sine * v, s->cosine * v - s->sine * u };
}

/* Returns the share of the pixel at column i and row j that the object covers, in steps of 1/SAMPLES². */
static double
covered(const scene *s, size_t i, size_t j, double pixel)
{
	int hits = 0;

	for (int a = 0; a < SAMPLES; a++)
		for (int b = 0; b < SAMPLES; b++)
			hits += inside(s->shape, to_object(s, ((double)i + (a + 0.5) / SAMPLES) * pixel,
							 ((double)j + (b + 0.5) / SAMPLES) * pixel));
	return (double)hits / (SAMPLES * SAMPLES);
}

static unsigned char
byte(double x)
{
	return x <= 0 ? 0 : x >= 255 ? 255 : (unsigned char)(x + 0.5);
}

static void
draw_pixel(const scene *s, unsigned char *rgb, size_t i, size_t j, double pixel, double cover, hu_dice *d)
{
	double x = ((double)i + 0.5) * pixel, y = ((double)j + 0.5) * pixel,
	       light = 1 + s->light_x * (2 * x - 1) + s->light_y * (2 * y - 1),
	       ground = 0.5 + 0.5 * ((1 - s->rough) * between(&s->coarse[0][0], COARSE, x, y) +
					    s->rough * between(&s->fine[0][0], FINE, x, y)),
	       bright = cover > 0 ? pattern(s->pattern, to_object(s, x, y)) : 1;

	for (int k = 0; k < 3; k++) {
		double under = s->low[k] + (s->high[k] - s->low[k]) * ground;
		rgb[k] = byte(light * (cover * bright * s->paint[k] + (1 - cover) * under) +
			      s->noise * hu_dice_uniform(d));
	}
}

int
hu_scenes_draw(unsigned char *pixels, unsigned char *mask, size_t size, size_t classes, uint64_t seed, uint64_t index)
{
	hu_dice d = { .seed = seed, .index = index, .stream = hu_fnv1a32("data/scenes") };
	size_t class = hu_dice_below(&d, (uint32_t)classes);
	double pixel = 1 / (double)size;
	scene s;

	take_object(&s, class, classes, &d);
	take_ground(&s, &d);
	for (size_t j = 0; j < size; j++)
		for (size_t i = 0; i < size; i++) {
			double cover = covered(&s, i, j, pixel);
			draw_pixel(&s, pixels + 3 * (j * size + i), i, j, pixel, cover, &d);
			if (mask)
				mask[j * size + i] = cover >= 0.5;
		}
	return (int)class;
}
