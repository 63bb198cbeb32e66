# SPDX-License-Identifier: Apache-2.0
"""What bench why says a call takes at least on this processor, it takes: no call of the models' steps is faster than
its operations at the measured peak, its bytes at the bandwidth and one call's overhead. A busy machine makes calls
slower, never faster; where it was in the way of the peak's own measurement, another try tells: the model fails that
has a call too fast in each of three."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, ok  # noqa: E402


def too_fast(words):
    """Calls below their prediction, and how near the nearest came."""
    run = subprocess.run([HALFULP, "bench", "why", *words.split(), "--policy", "float32,mixed_float16", "--steps",
                          "warm=1", "--steps", "3", "--by", "call", "--json"], capture_output=True, text=True)
    if run.returncode:
        print("# " + run.stderr.strip())
        return None, 0
    rows = json.loads(run.stdout)
    rows = rows if isinstance(rows, list) else rows["rows"]
    named = {(r["policy"], r.get("call", "all"), r["layer"], r.get("op", "all")): r["measured_ms"] / r["predicted_ms"]
             for r in rows}
    assert any(k[3] == "conv2d_dx" for k in named) or "convnet" not in words
    return {k for k, ratio in named.items() if ratio < 1}, len(named)


WHOLE = "--data digits --batch 64 --model "
# Calls on single numbers take their least where everything else in the step is small as well
SMALL = "--data size=8 --batch 4 --model width=0.0625 --model mlp"
for words in (
    WHOLE + "mlp", WHOLE + "convnet", SMALL, "--model ncf --data ratings --model layers=2,hidden=8 --batch 32"
):
    left, calls = None, 0
    for attempt in range(3):
        found, calls = too_fast(words)
        if found is None:
            left = {"no table"}
            break
        left = found
        if not left:
            break
    ok(
        not left,
        "%s: none of %d calls and sums takes less than it must%s"
        % (words, calls, "; too fast: %s" % sorted(left)[:5] if left else ""),
    )
finish()
