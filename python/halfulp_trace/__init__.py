# SPDX-License-Identifier: Apache-2.0
"""Records real training steps of a PyTorch model as a run of halfulp.

    recorder = halfulp_trace.record(model, "RUN", optimizer=opt)
    for x, y in batches:
        with recorder:                              # one step: forward, backward, update
            loss = criterion(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(opt); scaler.update()
            recorder.loss(loss)

RUN is then a directory that `halfulp analyze`, `report`, `check` and `diff` take. It holds a program, the list of
the step's calls, and the values of every tensor of each step, PyTorch's own, on whatever device they were computed.

A TorchDispatchMode sees every operator of ATen that runs, below autograd and autocast. Each operator that halfulp has
becomes a call of it (operators/, a file a family); the move of a view or of a change of layout becomes a call
too. An operator that halfulp lacks is opaque: its results are inputs of what follows, and it is counted.
This package stands alone: it needs PyTorch and nothing of halfulp. doc/torch.md is its guide.
"""
from .callbacks import LightningCallback, TrainerCallback
from .formats import Unknown
from .operators import OPERATORS, operator
from .recorder import record
from .summary import summary
from .values import snapshot, tensor_name

__all__ = ["LightningCallback", "OPERATORS", "TrainerCallback", "Unknown", "operator", "record", "snapshot",
           "summary", "tensor_name"]
