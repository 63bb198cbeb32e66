# SPDX-License-Identifier: Apache-2.0
# Whether the errors of a tensor have mean zero: signed means, and the largest that T can be.
import math

from .expect import Near, Unknown, Within
from .number import FORMATS, fl, log2floor, pow2

CLUSTERS, LARGEST, ALARM = 128, 4096, 6.07
COLUMNS = ('signed_ulp_mean', 'outward_ulp_mean', 'bias_t', 'bias_t_declared', 'biased')


def unit(x, name):
    """The ulp of x."""
    bits, ebits, p, emin, infinities = FORMATS[name]
    return pow2((max(log2floor(x), emin) if x else emin) - p + 1)


def figures(judged):
    """The columns of a Judged. What the computation may err is taken from T, so that only its upper end is computed."""
    n, means, sums = 0, [0, 0], [[0] * CLUSTERS, [0] * CLUSTERS]
    for i, got, x, ulps in zip(judged.elements, judged.got, judged.exact, judged.ulps):
        if judged.format == 'fp64' or isinstance(got, str) or not math.isfinite(ulps):
            continue
        x, n = (x.lo + x.hi) / 2, n + 1
        u, sign = unit(x, judged.format), (x > 0) - (x < 0)
        clamp = lambda d: max(-LARGEST, min(d / u, LARGEST))  # noqa: E731,B023
        rounded, error = fl(x, judged.format), clamp(got - x)
        finite = not isinstance(rounded, str) and math.isfinite(rounded)
        moved = clamp(got - rounded) if finite and got != rounded else 0
        for k, side in enumerate((1, sign)):
            means[k] += error * side
            if moved:
                sums[k][i * CLUSTERS // judged.of] += moved * side
    if not n:
        return dict.fromkeys(COLUMNS[:4], None) | {'biased': 0}
    spread = [math.sqrt(float(sum(v * v for v in s))) for s in sums]
    t = [abs(float(sum(s))) / d if d else 0 for s, d in zip(sums, spread)]
    mean = [Near(float(m) / n, 1e-6, 2.0 ** -24) for m in means]
    return {'signed_ulp_mean': mean[0], 'outward_ulp_mean': mean[1], 'bias_t': Within(0, max(t) * (1 + 1e-6) + 1e-6),
            'bias_t_declared': Unknown('it is not emulated here') if max(t) else None,
            'biased': Within(0, 1) if max(t) > ALARM else 0}
