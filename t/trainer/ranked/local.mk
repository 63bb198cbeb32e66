# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trainer/ranked/t-all-reduce-feedback.py
SCRIPT_TESTS += t/trainer/ranked/t-all-reduce.py
SCRIPT_TESTS += t/trainer/ranked/t-micro-batches.py
SCRIPT_TESTS += t/trainer/ranked/t-nccl.py
SCRIPT_TESTS += t/trainer/ranked/t-ranks-device.py
SCRIPT_TESTS += t/trainer/ranked/t-ranks-images.py
SCRIPT_TESTS += t/trainer/ranked/t-ranks.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/ranked/x-cluster.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/ranked/x-ranks-kill.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/ranked/x-ranks.py
