# SPDX-License-Identifier: Apache-2.0
# What was lost of a vector: its share of the L2 norm, the cosine to the exact vector, the verdict on both.
import math
from fractions import Fraction as Q

from .expect import Near

RANK = {'-': 0, 'harmless': 1, 'costs': 2, 'fatal': 3}


class Harm:
    """Sums over pairs of an exact and an actual number, Fractions."""

    def __init__(self):
        self.exact2 = self.got2 = self.lost2 = self.dot = Q(0)
        self.nonfinite = 0

    def add(self, got, exact, lost):
        if isinstance(got, str) or isinstance(exact, str):
            self.nonfinite += 1
            return
        self.exact2 += exact * exact
        self.got2 += got * got
        self.dot += got * exact
        self.lost2 += exact * exact if lost else 0

    def join(self, o):
        for k in ('exact2', 'got2', 'lost2', 'dot', 'nonfinite'):
            setattr(self, k, getattr(self, k) + getattr(o, k))

    def share(self):
        return math.sqrt(self.lost2 / self.exact2) if self.exact2 else None

    def cosine(self):
        if not self.exact2:
            return None
        if not self.got2:
            return 0.0
        c = math.sqrt(self.dot * self.dot / (self.exact2 * self.got2))
        return min(1.0, c) if self.dot >= 0 else -min(1.0, c)

    def word(self, fatal=True):
        """FATAL: what is not finite decides."""
        if self.nonfinite:
            return 'fatal' if fatal else '-'
        return verdict(self.share(), self.cosine())

    def cells(self, fatal=True):
        share, cosine = self.share(), self.cosine()
        # numbers enter as the doubles nearest to them, so squares are off by 2^-52 of themselves; a cosine near 1 by
        # that absolutely
        return {'l2_share_lost': None if share is None else Near(share, 1e-12), 'cosine': None if cosine is None else Near(cosine, 1e-12, 4e-15), 'verdict': self.word(fatal)}


def verdict(share, cosine):
    if share is None or cosine is None:
        return '-'
    if share >= 0.5 or cosine <= 0.9:
        return 'fatal'
    return 'harmless' if share <= 0.1 and cosine >= 0.99 else 'costs'
