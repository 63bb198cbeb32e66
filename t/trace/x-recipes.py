# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings (recipes.py and recipes_*.py but that of searches), beside the same in float64 (twins.py).

    x-recipes.py [NAME...]"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import recorded  # noqa: E402, F401
import twins  # noqa: E402
from recipes import RECIPES  # noqa: E402
from recipes_bytes import BYTES  # noqa: E402
from recipes_codes import CODES  # noqa: E402
from recipes_func import FUNCTIONS  # noqa: E402
from recipes_losses import LOSSES  # noqa: E402
from recipes_memory import MEMORY  # noqa: E402
from recipes_models import MODELS  # noqa: E402
from recipes_updates import UPDATES  # noqa: E402
from recipes_writes import WRITES  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
every = {**RECIPES, **LOSSES, **MODELS, **CODES, **FUNCTIONS, **MEMORY, **BYTES, **WRITES, **UPDATES}
twins.hold({k: f for k, f in every.items() if k in (sys.argv[1:] or every)}, few=len(sys.argv) > 1)
finish()
