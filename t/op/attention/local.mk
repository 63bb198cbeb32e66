SCRIPT_TESTS += t/op/attention/t-attention.py
C_TESTS += t/op/attention/u-flash
