# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/optim/t-adafactor.py
SCRIPT_TESTS += t/trainer/optim/t-adam8bit.py
SCRIPT_TESTS += t/trainer/optim/t-clip.py
SCRIPT_TESTS += t/trainer/optim/t-constants.py
SCRIPT_TESTS += t/trainer/optim/t-ema.py
SCRIPT_TESTS += t/trainer/optim/t-lamb.py
SCRIPT_TESTS += t/trainer/optim/t-lion-muon.py
SCRIPT_TESTS += t/trainer/optim/t-optimizer-kahan.py
SCRIPT_TESTS += t/trainer/optim/t-optimizer-keys.py
SCRIPT_TESTS += t/trainer/optim/t-schedule.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/optim/x-short-optimizers.py
