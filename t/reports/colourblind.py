#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What colours become for those who see two primaries only: Machado, Oliveira & Fernandes 2009, A physiologically-based
# model for simulation of color vision deficiency, IEEE TVCG 15(6), table 1, severity 1.0, on linear RGB; and how far
# two colours are apart, in Oklab (Ottosson 2020), where 0.02 is about what one just sees of two surfaces side by side.
#
#   colourblind.py KIND IN.svg OUT.svg      writes a drawing as they see it; KIND: protan, deutan or tritan
import re
import sys

KINDS = {
    'protan': ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    'deutan': ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    'tritan': ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    """#RRGGBB as three numbers in 0..1 that are proportional to light (IEC 61966-2-1)."""
    code = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in code]


def coded(light):
    code = [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in light]
    return '#%02X%02X%02X' % tuple(round(255 * min(max(c, 0), 1)) for c in code)


def times(matrix, v):
    return [sum(m * x for m, x in zip(row, v)) for row in matrix]


def seen(colour, kind):
    """What COLOUR, #RRGGBB, looks like to somebody of that kind; itself where KIND is None."""
    return coded([min(max(c, 0), 1) for c in times(KINDS[kind], linear(colour))]) if kind else colour


def oklab(colour):
    lms = times(((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
                 (0.0883024619, 0.2817188376, 0.6299787005)), linear(colour))
    return times(((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
                  (0.0259040371, 0.7827717662, -0.8086757660)), [abs(c) ** (1 / 3) for c in lms])


def apart(one, other):
    return sum((a - b) ** 2 for a, b in zip(oklab(one), oklab(other))) ** 0.5


def recoloured(text, kind):
    """The text of an SVG with each #RRGGBB and rgb(r, g, b) as it is seen."""
    text = re.sub(r'#[0-9A-Fa-f]{6}\b', lambda m: seen(m[0].upper(), kind), text)
    return re.sub(r'rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)',
                  lambda m: seen('#%02X%02X%02X' % tuple(int(m[i]) for i in (1, 2, 3)), kind), text)


if __name__ == '__main__':
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit('usage: colourblind.py %s IN.svg OUT.svg' % '|'.join(KINDS))
    with open(sys.argv[2], encoding='utf-8') as f:
        drawing = recoloured(f.read(), sys.argv[1])
    with open(sys.argv[3], 'w', encoding='utf-8') as f:
        f.write(drawing)
