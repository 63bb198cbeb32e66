# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/trainer/train/small_runs.py
SCRIPT_TESTS += t/trainer/train/t-delayed.py
SCRIPT_TESTS += t/trainer/train/t-hadamard-signs.py
SCRIPT_TESTS += t/trainer/train/t-lines.py
SCRIPT_TESTS += t/trainer/train/t-qat.py
SCRIPT_TESTS += t/trainer/train/t-recipe-keys.py
SCRIPT_TESTS += t/trainer/train/t-recipes.py
SCRIPT_TESTS += t/trainer/train/t-reductions.py
SCRIPT_TESTS += t/trainer/train/t-torch.py
SCRIPT_TESTS += t/trainer/train/t-train-numbers.py
SCRIPT_TESTS += t/trainer/train/t-train.sh
C_TESTS += t/trainer/train/u-session
C_TESTS += t/trainer/train/u-start
EXPENSIVE_SCRIPT_TESTS += t/trainer/train/x-mnist.sh
