# SPDX-License-Identifier: Apache-2.0
# The package's names: kernels.py judges a kernel's result, models.py does the same for models and files, and record is
# halfulp_trace's. What is computed is the program's.
"""Kernels against exact values and proven bounds (doc/kernels.md), models under number formats, drift of files."""
from .kernels import KernelWarning, Verdict, assert_close, cases, judge
from .models import Check, Policy, Validation, check, validate
from .program import ProgramError, Refused

__all__ = ["assert_close", "cases", "check", "judge", "record", "validate", "Check", "KernelWarning", "Policy",
           "ProgramError", "Refused", "Validation", "Verdict"]


def record(*arguments, **options):
    """Records training steps of a PyTorch model: halfulp_trace.record, which doc/torch.md explains."""
    import halfulp_trace

    return halfulp_trace.record(*arguments, **options)
