# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings (recipes.py and others) that were misjudged once, or not judged, beside the same in float64
(twins.py). x-recipes.py has all of them."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import recorded  # noqa: E402, F401
import twins  # noqa: E402
from recipes import RECIPES  # noqa: E402
import recipes_bytes  # noqa: E402
from recipes_codes import CODES  # noqa: E402
from recipes_func import FUNCTIONS  # noqa: E402
from recipes_losses import LOSSES  # noqa: E402
from recipes_memory import MEMORY, OPAQUE  # noqa: E402
from recipes_updates import UPDATES  # noqa: E402
from recipes_writes import WRITES  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402

os.chdir(home())
ONCE = 'complex_weights', 'complex_moments', 'scaled_by_hand', 'forward_gradient', 'poisoned', 'one_memory', \
    'slope_along', 'sharded', 'contrasted', 'coded_weights', 'coded_moments', 'observed', 'nearest', 'of_spectra', \
    'mixed_by_frequencies', 'saved_and_loaded', 'largest_moments', 'centred', 'evolution', 'sharded_and_clipped', \
    'decayed_gradients'
every = {**RECIPES, **CODES, **FUNCTIONS, **LOSSES, **UPDATES}
words = twins.hold({**{name: every[name] for name in ONCE}, **MEMORY, **recipes_bytes.BYTES, **WRITES}, few=True)
clear = 'as_one_vector', 'by_masks', 'at_once', 'used_and_freed', 'padded', 'inverted', 'evolution'
none([name for name in clear if words[name, 'autocast'] != 'harmless'],
     'memory that parameters share, gradients that are gone, none and infinite masks are no reason for another word')
ok(words['centred', 'fp16'] == 'costs', 'a root that rounded states leave undefined is no fatal fault',
   words['centred', 'fp16'])
judged = {(name, mode): twins.judged(make, mode) for name, make in {
    **OPAQUE, **recipes_bytes.OPAQUE}.items() for mode in twins.MODES}
NAME = 'what may be made of an array'
none([k for k, (word, _, _, found, _) in judged.items() if word == 'harmless' or found != NAME],
     'what another library made of activations, or of their bytes, is opaque, and no all-clear')
finish()
