/* SPDX-License-Identifier: Apache-2.0
   Draws a digit: a skeleton of glyphs.def whose points are moved at random, a smooth elastic field and a random affine
   map over it, a pen of varying width, anti-aliasing, then noise. It uses no function of libm, since their last bits
   differ between machines. */
#include "trainer/data/drawn/digits.h"

#include "lib/base/hash.h"
#include "lib/base/status.h"
#include "trainer/data/drawn/dice.h"

#include <string.h>

enum {
	POINTS = 16, /* most points of a stroke */
	PIECES = 5, /* straight pieces between two points; 5 of them deviate from the curve by less than a tenth of a
		       pixel at 28 × 28 */
	GRID = 4    /* knots of the elastic field along a side */
};

static const struct { int digit; const char *strokes; } glyphs[] = {
#define GLYPH(digit, strokes) { digit, strokes },
#include "trainer/data/drawn/glyphs.def"
#undef GLYPH
};

enum { GLYPHS = sizeof glyphs / sizeof *glyphs };

typedef struct point { double x, y; } point;

/* How one image deviates from its skeleton. */
typedef struct hand {
	double a, b, c, d, tx, ty;      /* affine map of the unit box, centred */
	point field[GRID][GRID];        /* displacement at the knots */
	double width, ink, edge;        /* pen radius and softness in units of the image's side */
	double noise;
	hu_dice *dice;
} hand;

static void
take_hand(hand *h, hu_dice *d)
{
	double t = 0.11 * hu_dice_bell(d), shear = 0.16 * hu_dice_bell(d), grow = 1.0 + 0.09 * hu_dice_bell(d),
	       narrow = 1.0 + 0.13 * hu_dice_bell(d);

	/* Rotation by 2·atan(t), rational in t: no sine needed. */
	double cosine = (1.0 - t * t) / (1.0 + t * t), sine = 2.0 * t / (1.0 + t * t);
	double sx = 0.72 * grow * narrow, sy = 0.72 * grow;
	h->a = cosine * sx;
	h->b = -sine * sy - shear * sx;
	h->c = sine * sx;
	h->d = cosine * sy;
	h->tx = 0.5 + 0.028 * hu_dice_bell(d);
	h->ty = 0.5 + 0.028 * hu_dice_bell(d);
	for (int i = 0; i < GRID; i++)
		for (int j = 0; j < GRID; j++) {
			h->field[i][j].x = 0.055 * hu_dice_bell(d);
			h->field[i][j].y = 0.055 * hu_dice_bell(d);
		}
	h->width = 0.041 + 0.010 * hu_dice_bell(d);
	if (!(h->width > 0.018))
		h->width = 0.018;
	h->ink = 0.88 + 0.12 * hu_dice_uniform(d);
	h->edge = 0.030 + 0.008 * hu_dice_uniform(d);
	h->noise = 9.0 + 7.0 * hu_dice_uniform(d);
	h->dice = d;
}

/* Uniform cubic B-spline weights of the four knots: they add up to 1 and the field has two continuous derivatives. */
static void
spline(double w[GRID], double t)
{
	double r = 1.0 - t;

	w[0] = r * r * r / 6.0;
	w[1] = (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0;
	w[2] = (4.0 - 6.0 * r * r + 3.0 * r * r * r) / 6.0;
	w[3] = t * t * t / 6.0;
}

/* From the skeleton's box to the image's, both 0 … 1. */
static point
place(const hand *h, point p)
{
	double wx[GRID], wy[GRID], x = p.x - 0.5, y = p.y - 0.5;

	spline(wx, p.x);
	spline(wy, p.y);
	for (int i = 0; i < GRID; i++)
		for (int j = 0; j < GRID; j++) {
			/* The weights smooth the knots down to about 0.4 of their size; 2.2 brings them back. */
			x += 2.2 * wy[i] * wx[j] * h->field[i][j].x;
			y += 2.2 * wy[i] * wx[j] * h->field[i][j].y;
		}
	return (point){ h->a * x + h->b * y + h->tx, h->c * x + h->d * y + h->ty };
}

/* The canvas keeps the largest coverage by any pen position, so that crossings of strokes are not darker. */
typedef struct canvas { unsigned char *ink; size_t size; } canvas;

static size_t
clip(double v, size_t size)
{
	return !(v > 0.0) ? 0 : v > (double)size ? size : (size_t)v;
}

/* A round pen drawn from a to b, its radius going from ra to rb; all in pixels. */
static void
draw_piece(canvas *c, point a, point b, double ra, double rb, double edge, double ink)
{
	double reach = (ra > rb ? ra : rb) + edge, dx = b.x - a.x, dy = b.y - a.y, len2 = dx * dx + dy * dy;
	size_t x0 = clip((a.x < b.x ? a.x : b.x) - reach - 1.0, c->size),
	       x1 = clip((a.x > b.x ? a.x : b.x) + reach + 1.0, c->size);
	size_t y0 = clip((a.y < b.y ? a.y : b.y) - reach - 1.0, c->size),
	       y1 = clip((a.y > b.y ? a.y : b.y) + reach + 1.0, c->size);

	for (size_t y = y0; y < y1; y++)
		for (size_t x = x0; x < x1; x++) {
			double px = (double)x + 0.5 - a.x, py = (double)y + 0.5 - a.y;
			double t = len2 > 0.0 ? (px * dx + py * dy) / len2 : 0.0;
			t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
			px -= t * dx;
			py -= t * dy;
			double r = ra + t * (rb - ra), d2 = px * px + py * py, far = r + edge;
			if (d2 >= far * far)
				continue;
			/* Coverage falls from 1 to 0 over the edge. It is computed from squared distances, so that no
			   root is needed; like ink it falls fastest at the rim. */
			double near = r > edge ? r - edge : 0.0;
			double cover = d2 <= near * near ? 1.0 : (far * far - d2) / (far * far - near * near);
			unsigned char v = (unsigned char)(255.0 * ink * cover);
			unsigned char *to = &c->ink[y * c->size + x];
			if (v > *to)
				*to = v;
		}
}

/* Reads "12,34" at *s and steps over it and the blanks behind. */
static point
read_point(const char **s)
{
	int v[2] = { 0, 0 };

	for (int i = 0; i < 2; i++, *s += **s == ',')
		for (; **s >= '0' && **s <= '9'; ++*s)
			v[i] = 10 * v[i] + (**s - '0');
	while (**s == ' ')
		++*s;
	return (point){ (double)v[0] / 100.0, (double)v[1] / 100.0 };
}

/* Catmull-Rom between b and c: through both, tangents along a-C and b-D. */
static point
bend(point a, point b, point c, point d, double t)
{
	double t2 = t * t, t3 = t2 * t;
	double wa = -0.5 * t + t2 - 0.5 * t3, wb = 1.0 - 2.5 * t2 + 1.5 * t3, wc = 0.5 * t + 2.0 * t2 - 1.5 * t3,
	       wd = -0.5 * t2 + 0.5 * t3;

	return (point){ wa * a.x + wb * b.x + wc * c.x + wd * d.x, wa * a.y + wb * b.y + wc * c.y + wd * d.y };
}

static void
draw_stroke(canvas *c, const hand *h, const point *p, int n)
{
	double side = (double)c->size, edge = h->edge * side, radius = h->width * side;
	point from = place(h, p[0]);
	double r0 = radius * (1.0 + 0.15 * hu_dice_uniform(h->dice));

	for (int i = 0; i + 1 < n; i++) {
		double r1 = radius * (1.0 + 0.15 * hu_dice_uniform(h->dice));
		for (int k = 1; k <= PIECES; k++) {
			double t0 = (double)(k - 1) / PIECES, t1 = (double)k / PIECES;
			point to = place(h, bend(p[i ? i - 1 : 0], p[i], p[i + 1], p[i + 2 < n ? i + 2 : n - 1], t1));
			draw_piece(c, (point){ from.x * side, from.y * side }, (point){ to.x * side, to.y * side },
				r0 + t0 * (r1 - r0), r0 + t1 * (r1 - r0), edge, h->ink);
			from = to;
		}
		r0 = r1;
	}
}

static void
draw_glyph(canvas *c, const hand *h, const char *strokes)
{
	point p[POINTS], shift = { 0, 0 }, before = { 0, 0 };

	while (*strokes) {
		int n = 0;
		while (*strokes && *strokes != ';') {
			HU_ASSERT(n < POINTS);
			point q = read_point(&strokes);
			/* A stroke that starts where the last one ended is shifted like it, so that corners stay
			   closed. */
			if (n || q.x != before.x || q.y != before.y)
				shift = (point){ 0.017 * hu_dice_bell(h->dice), 0.017 * hu_dice_bell(h->dice) };
			before = q;
			p[n++] = (point){ q.x + shift.x, q.y + shift.y };
		}
		while (*strokes == ';' || *strokes == ' ')
			strokes++;
		draw_stroke(c, h, p, n);
	}
}

/* Adds noise, like the grain of paper and sensor: the sum of a word's four bytes is bell-shaped with mean 510 and
   standard deviation 147.8 = √(4·(256² − 1)/12). */
static void
add_noise(canvas *c, const hand *h)
{
	for (size_t i = 0; i < c->size * c->size; i++) {
		uint32_t w = hu_dice_word(h->dice);
		double sum = (double)((w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24));
		double v = (double)c->ink[i] + h->noise * (sum - 510.0) / 147.8;
		c->ink[i] = !(v > 0.0) ? 0 : v > 255.0 ? 255 : (unsigned char)v;
	}
}

int
hu_digits_draw(unsigned char *pixels, size_t size, uint64_t seed, uint64_t index)
{
	hu_dice d = { .seed = seed, .index = index, .stream = hu_fnv1a32("data/digits") };
	canvas c = { pixels, size };
	uint32_t digit = hu_dice_below(&d, 10), variants = 0, first = 0;
	hand h;

	memset(pixels, 0, size * size);
	for (uint32_t i = 0; i < GLYPHS; i++)
		if (glyphs[i].digit == (int)digit && !variants++)
			first = i;
	/* the rows of a digit follow each other in glyphs.def */
	const char *strokes = glyphs[first + hu_dice_below(&d, variants)].strokes;
	take_hand(&h, &d);
	draw_glyph(&c, &h, strokes);
	add_noise(&c, &h);
	return (int)digit;
}
