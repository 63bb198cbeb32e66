# SPDX-License-Identifier: Apache-2.0
"""PyTorch's rule for the loss scale, step for step against torch's own update where Python
has it: 10^5 steps of each pattern that t/op/update/u-scaler draws."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, ok, skip_all  # noqa: E402

try:
    import torch
    update = torch._amp_update_scale_
except (ImportError, AttributeError, OSError) as why:
    skip_all("torch's GradScaler update is not to be had: %s" % str(why).splitlines()[0])

program = os.path.join(os.environ.get("top_builddir", "."), "t", "op", "update", "u-scaler")
for interval in (2000, 7, 100):
    for pattern in range(4):
        out = subprocess.run(
            [program, "trajectory", str(interval), str(pattern)], capture_output=True, text=True, check=True
        ).stdout
        rows = [line.split() for line in out.splitlines()]
        scale, tracker = torch.full((), 65536.0), torch.zeros((), dtype=torch.int32)
        differ = None
        for step, (found, want, count) in enumerate(rows):
            update(scale, tracker, torch.full((), float(found)), 2.0, 0.5, interval)
            if scale.item() != float.fromhex(want) or tracker.item() != int(count):
                differ = step
                break
        ok(
            len(rows) == 100000 and differ is None,
            "interval %d, pattern %d: %d steps as torch %s takes them"
            % (interval, pattern, len(rows), torch.__version__),
            "step %s differs" % differ,
        )
finish()
