# SPDX-License-Identifier: Apache-2.0
"""How operators of ATen are recorded: each file of this folder registers its own (table.py), and nothing lists them."""
import importlib
import pkgutil

from .silent import CREATE, EMPTY, SILENT
from .table import OPERATORS, operator

for file in pkgutil.iter_modules(__path__):
    importlib.import_module("." + file.name, __name__)

__all__ = ["CREATE", "EMPTY", "OPERATORS", "SILENT", "operator"]
