# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/train/t-delayed.py
SCRIPT_TESTS += t/trainer/train/t-lines.py
SCRIPT_TESTS += t/trainer/train/t-qat.py
SCRIPT_TESTS += t/trainer/train/t-recipe-keys.py
SCRIPT_TESTS += t/trainer/train/t-recipes.py
SCRIPT_TESTS += t/trainer/train/t-reductions.py
SCRIPT_TESTS += t/trainer/train/t-said.py
SCRIPT_TESTS += t/trainer/train/t-torch.py
SCRIPT_TESTS += t/trainer/train/t-train.sh
EXTRA_DIST += t/trainer/train/told.py
C_TESTS += t/trainer/train/u-session
C_TESTS += t/trainer/train/u-start
EXPENSIVE_SCRIPT_TESTS += t/trainer/train/x-mnist.sh
