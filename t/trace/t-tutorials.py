# SPDX-License-Identifier: Apache-2.0
"""Trainings in the style of tutorials (tutorials.py), beside the same in float64 (twins.py).

    t-tutorials.py [NAME...]"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import recorded  # noqa: E402, F401
import twins  # noqa: E402
from tap import finish, home  # noqa: E402
from tutorials import TRAININGS  # noqa: E402

os.chdir(home())
twins.hold({k: f for k, f in TRAININGS.items() if k in (sys.argv[1:] or TRAININGS)}, few=len(sys.argv) > 1)
finish()
