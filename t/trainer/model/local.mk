# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/model/t-contrast.py
SCRIPT_TESTS += t/trainer/model/t-dropout.py
SCRIPT_TESTS += t/trainer/model/t-experts.py
SCRIPT_TESTS += t/trainer/model/t-losses.py
SCRIPT_TESTS += t/trainer/model/t-text-models.sh
SCRIPT_TESTS += t/trainer/model/t-vision.py
EXTRA_DIST += t/trainer/model/torchnets.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/model/x-torch-bert.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/model/x-torch-training.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/model/x-torch-vision.py
