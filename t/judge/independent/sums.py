# SPDX-License-Identifier: Apache-2.0
# Sums of products by the models of doc/formats.md, term by term, with their swamped additions. Numbers are integers in
# units of 2^-SCALE, so that products of fp32 are exact; a rounding is one of integers.
from .files import NotFinite
from .number import FORMATS

SCALE = 420

# Of a tensor core: L products a block, F fraction bits below the largest exponent, fraction bits kept in an fp32 sum,
# how far below the output's smallest normal exponent a zero counts. From the sources that lib/sum/tc/tc.def names.
TC = {('volta', 'fp16'): (4, 23, 23, 5), ('ampere', 'fp16'): (8, 24, 23, 6), ('hopper', 'fp16'): (16, 25, 23, 7), ('hopper', 'bf16'): (16, 25, 23, 7),
      ('hopper', 'e4m3'): (32, 13, 13, 7), ('hopper', 'e5m2'): (32, 13, 13, 7)}
STAGNANT = 8  # swamped terms at the end of a sum that has stopped


class Count:
    """Additions of two nonzero numbers, how many were swamped, and the swamped terms since the sum last moved."""

    def __init__(self):
        self.additions = self.swamped = self.run = 0

    def term(self, acc, lost):
        self.additions += acc != 0
        self.swamped += lost
        self.run = self.run + 1 if lost else 0

    def node(self, x, y, s):
        if x and y:
            self.additions += 1
            self.swamped += s in (x, y)


class Rounding:
    """To a format: to nearest even, or stochastically from 32 bits a draw."""

    def __init__(self, name, draw=None):
        bits, ebits, self.p, self.emin, infinities = FORMATS[name]
        emax = (1 << (ebits - 1)) - 1
        self.most = ((1 << self.p) - 1) << (emax - self.p + 1 + SCALE)
        self.draw = draw

    def __call__(self, x, k=0, word=0):
        a = abs(x)
        cut = max(a.bit_length() - 1 - SCALE, self.emin) - self.p + 1 + SCALE
        if cut > 0:
            kept, rest = a >> cut, a & ((1 << cut) - 1)
            if self.draw is None:
                half = 1 << (cut - 1)
                kept += rest > half or (rest == half and kept & 1)
            else:
                kept += self.draw(k, word) < (rest >> (cut - 32) if cut >= 32 else rest << (32 - cut))
            a = kept << cut
        if a > self.most:
            raise NotFinite
        return -a if x < 0 else a


def philox(counter, key):
    """Philox4x32-10 of Salmon and others, SC 2011."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k0, b & 0xffffffff, (a >> 32) ^ c[3] ^ k1, a & 0xffffffff]
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    return c


def fnv32(text):
    h = 0x811c9dc5
    for b in text.encode():
        h = (h ^ b) * 0x01000193 & 0xffffffff
    return h


def draws(seed, name, step, first):
    """The words of a call's sums: of term k, rounding d, counted from the sum's first term on."""
    stream = fnv32(name) ^ 0x5355

    def word(k, d):
        i = first + k
        block = i >> 2 | d << 60
        return philox((block & 0xffffffff, block >> 32, step, stream), (seed & 0xffffffff, seed >> 32))[i & 3]
    return word


def plain(products, fl, count, fused=True, at=0):
    acc = 0
    for k, y in enumerate(products):
        y = y if fused else fl(y)
        s = fl(acc + y, at + k)
        if y:
            count.term(acc, acc != 0 and s == acc)
        acc = s
    return acc


def evened(products, length, fl, count):
    """Chunks, of which the last two share what is longer than one and shorter than two."""
    ends, at = [], 0
    while len(products) - at >= 2 * length or len(products) - at == length:
        at += length
        ends.append(at)
    if len(products) - at > length:
        ends.append(at + (len(products) - at + 1) // 2)
    if not ends or ends[-1] < len(products):
        ends.append(len(products))
    return slices(products, [0] + ends, fl, fl, count)


def chunks(products, length, fl, outer, count):
    return slices(products, list(range(0, len(products), length)) + [len(products)], fl, outer, count)


def slices(products, ends, fl, outer, count):
    acc = 0
    for at, end in zip(ends, ends[1:]):
        inner = Count()
        y = plain(products[at:end], fl, inner)
        s = outer(acc + y)
        if y:
            count.term(acc, acc != 0 and s == acc)
        count.additions += inner.additions
        count.swamped += inner.swamped
        acc = s
    return acc


def halves(products, fl, count):
    if len(products) == 1:
        return fl(products[0])
    first = 1 << ((len(products) - 1).bit_length() - 1)
    x, y = halves(products[:first], fl, count), halves(products[first:], fl, count)
    s = fl(x + y)
    count.node(x, y, s)
    return s


def kahan(terms, fl, count):
    acc = low = 0
    for x in terms:
        y = fl(x - low)
        t = fl(acc + y)
        e = fl(fl(t - acc) - y)
        if x:
            count.term(acc, acc != 0 and t == acc and e == low)
        acc, low = t, e
    return acc


def neumaier(terms, fl, count):
    acc = low = 0
    for x in terms:
        s = fl(acc + x)
        e = fl(fl(acc - s) + x) if abs(acc) >= abs(x) else fl(fl(x - s) + acc)
        more = fl(low + e)
        if x:
            count.term(acc, acc != 0 and s == acc and more == low)
        acc, low = s, more
    return fl(acc + low)


def dot2(products, fl, count):
    acc = low = 0
    for y in products:
        x = fl(y)
        r = fl(y - x)
        s = fl(acc + x)
        z = fl(s - acc)
        e = fl(fl(acc - fl(s - z)) + fl(x - z))
        more = fl(low + fl(e + r))
        if x:
            count.term(acc, acc != 0 and s == acc and more == low)
        acc, low = s, more
    return fl(acc + low)


def exponent(x, emin):
    """Of a number that is not normalised below 2^emin."""
    return max(abs(x).bit_length() - 1 - SCALE, emin)


def tensor_core(pairs, unit, out, emins, count):
    """PAIRS of operands; OUT: the accumulator's format; EMINS: of the two operands' formats."""
    L, F, keep, below = unit
    p, emin = FORMATS[out][2:4]
    emax = (1 << (FORMATS[out][1] - 1)) - 1
    acc = 0
    for at in range(0, len(pairs), L):
        block = [(a * b >> SCALE, exponent(a, emins[0]) + exponent(b, emins[1]) if a and b else None) for a, b in pairs[at:at + L]]
        top = max([e for x, e in block if e is not None] + [exponent(acc, emin) if acc else emin - below, emin - below])
        cut = top - F + SCALE
        chop = lambda x: (abs(x) >> cut) * (-1 if x < 0 else 1) if cut > 0 else x  # noqa: E731
        total = chop(acc) + sum(chop(x) for x, e in block)
        for x, e in block:
            if x:
                count.term(1, chop(x) == 0)
        acc = (total << cut) if cut > 0 else total
        a = abs(acc)
        last = exponent(acc, emin) - (10 if out == 'fp16' else keep) + SCALE
        if last > 0:
            kept, rest = a >> last, a & ((1 << last) - 1)
            half = 1 << (last - 1)
            a = (kept + (out == 'fp16' and (rest > half or (rest == half and kept & 1)))) << last
        if a > ((1 << p) - 1) << (emax - p + 1 + SCALE):
            raise NotFinite
        acc = -a if acc < 0 else a
    return acc


def over_ranks(products, ranks, node, halving, fl, wire, count):
    """An all-reduce: each rank's own sum, rings within nodes, and a tree over these, in which partners exchange sums."""
    n, ranks = len(products), min(ranks, len(products))
    inner, members, first = Count(), [], [r * len(products) // ranks for r in range(ranks + 1)]
    for r in range(ranks):
        own = wire(plain(products[first[r]:first[r + 1]], fl, inner))
        if r % node:
            acc = members[-1]
            s = wire(fl(acc + own))
            if own:
                count.term(acc, acc != 0 and s == acc)
            members[-1] = s
        else:
            if own and node > 1:
                count.term(0, False)
            members.append(own)
    count.additions += inner.additions
    count.swamped += inner.swamped

    def join(x, y):
        s = wire(fl(x + y))
        count.node(x, y, s)
        return s
    two = 1 << len(members).bit_length() - 1
    extra = len(members) - two
    members = [join(members[2 * i], members[2 * i + 1]) for i in range(extra)] + members[2 * extra:]
    while len(members) > 1:
        half = len(members) // 2
        members = [join(members[i], members[i + half]) if halving else join(members[2 * i], members[2 * i + 1]) for i in range(half)]
    return members[0]


class Model:
    """A model's text, taken apart: name, length, keys."""

    def __init__(self, text):
        self.text = text
        head, *rest = text.split(',')
        self.name, _, n = head.partition(':')
        self.arch = n if self.name == 'tc' else ''
        self.n, _, self.node = [int(x) if x.isdigit() else 0 for x in n.partition(':')]
        self.keys = dict(r.split('=') for r in rest)

    def acc(self, call):
        """The accumulator's format; a tensor core's is the call's own where it says nothing."""
        if self.name == 'tc':
            return self.keys.get('out', 'fp16' if call['fmt']['acc'] == 'fp16' else 'fp32')
        return self.keys.get('acc', 'fp32')

    def takes(self, a, b):
        return self.name != 'tc' or (self.arch, a) in TC

    def run(self, pairs, call, formats, draw=None):
        """The sum of PAIRS of integers, k ascending, and its counts."""
        count, name, acc = Count(), self.name, self.acc(call)
        if name == 'tc':
            return tensor_core(pairs, TC[self.arch, formats[0]], acc, [FORMATS[f][3] for f in formats], count), count
        fl = Rounding(acc, draw if self.keys.get('mode') == 'SR' else None)
        products = [a * b >> SCALE for a, b in pairs]
        if name == 'fma':
            return plain(products, fl, count), count
        if name == 'sequential':
            return plain(products, fl, count, False), count
        if name == 'chunk':
            return chunks(products, self.n, fl, fl, count), count
        if name == 'openblas':
            return evened(products, self.n, fl, count), count
        if name == 'splitk':
            return chunks(products, -(-len(products) // self.n), fl, fl, count), count
        if name == 'promote':
            return chunks(products, self.n, fl, Rounding('fp32'), count), count
        if name in ('ring', 'tree', 'halving', 'hier'):
            wire = Rounding(self.keys['wire']) if 'wire' in self.keys else lambda x: x
            node = {'ring': self.n, 'hier': self.node}.get(name, 1)
            return over_ranks(products, self.n, node, name == 'halving', fl, wire, count), count
        if name == 'pairwise':
            return halves(products, fl, count), count
        if name == 'fabsum':
            inner = Count()
            sums = [plain(products[at:at + self.n], fl, inner) for at in range(0, len(products), self.n)]
            total = kahan(sums, fl, count)
            count.additions += inner.additions
            count.swamped += inner.swamped
            return total, count
        return {'kahan': lambda: kahan([fl(y) for y in products], fl, count), 'neumaier': lambda: neumaier([fl(y) for y in products], fl, count),
                'dot2': lambda: dot2(products, fl, count)}[name](), count


def tree(terms, fl, counts):
    """The fixed tree over TERMS, at most 4096 of them. COUNTS: its Count; its run is that of the lane that stood still longest."""
    lanes, longest = [0] * 32, [0] * 32
    for i, x in enumerate(terms):
        j = i % 32
        s = fl(lanes[j] + x)
        if lanes[j] and x:
            counts.additions += 1
            counts.swamped += s == lanes[j]
            longest[j] = longest[j] + 1 if s == lanes[j] else 0
        lanes[j] = s
    step = 16
    while step:
        for j in range(step):
            s = fl(lanes[j] + lanes[j + step])
            counts.node(lanes[j], lanes[j + step], s)
            lanes[j] = s
        step //= 2
    counts.run = max(longest)
    return lanes[0]
