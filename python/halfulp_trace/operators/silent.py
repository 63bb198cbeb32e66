# SPDX-License-Identifier: Apache-2.0
"""Operators of ATen that compute nothing."""



# Operators that make tensors of nothing, whose results are inputs without being opaque.
EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}   # what they hold means nothing
CREATE = {"zeros", "zeros_like", "new_zeros", "ones",
          "ones_like", "new_ones", "full", "full_like", "new_full", "scalar_tensor", "arange", "zero_", "fill_",
          "bernoulli_", "bernoulli", "rand", "randn", "rand_like", "randn_like", "normal_", "uniform_", "randint",
          "randperm", "lift_fresh", "eye", "linspace", "logspace", "hann_window", "hamming_window", "tril_indices",
          "triu_indices", "exponential_", "random_", "_efficientzerotensor"}
# Operators that compute nothing.
SILENT = {"is_same_size", "_version", "record_stream", "is_pinned",
        "_has_compatible_shallow_copy_type",
          "set_", "resize_", "resize_as_"}
