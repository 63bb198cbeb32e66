/* SPDX-License-Identifier: Apache-2.0
   What the operators compute, against definitions written down here a second time:
   in fp64 against plain C with libm. Orders and special values are u-op-order's, error bounds u-op-table's. */
#include "t/op/op-values.h"

static void
test_batchnorm(void)
{
	enum { N = 60, C = 6 };
	op_case k = run("batchnorm", "eps=1e-3 momentum=0.75", "x:4x5x3x6 x:6 x:6 x:6 p:6", "x c c 3 4");
	double worst = 0;

	for (size_t c = 0; c < C; c++) {
		double mean = 0, var = 0;
		for (size_t i = 0; i < N; i++)
			mean += in_at(&k, 0, i * C + c) / N;
		for (size_t i = 0; i < N; i++)
			var += pow(in_at(&k, 0, i * C + c) - mean, 2) / N;
		for (size_t i = 0; i < N; i++)
			agree(&worst, out_at(&k, 0, i * C + c),
				(in_at(&k, 0, i * C + c) - mean) / sqrt(var + 1e-3) * in_at(&k, 1, c) +
					in_at(&k, 2, c));
		agree(&worst, out_at(&k, 1, c), mean);
		agree(&worst, out_at(&k, 2, c), 1 / sqrt(var + 1e-3));
		agree(&worst, out_at(&k, 3, c), 0.75 * in_at(&k, 3, c) + 0.25 * mean);
		agree(&worst, out_at(&k, 4, c), 0.75 * in_at(&k, 4, c) + 0.25 * var);
	}
	done(&k, worst, "by its definition, biased variance, running statistics");
	k = run("batchnorm_eval", "eps=1e-3", "x:10x6 x:6 x:6 x:6 p:6", "x");
	worst = 0;
	for (size_t i = 0; i < 60; i++)
		agree(&worst, out_at(&k, 0, i),
			(in_at(&k, 0, i) - in_at(&k, 3, i % C)) / sqrt(in_at(&k, 4, i % C) + 1e-3) *
					in_at(&k, 1, i % C) +
				in_at(&k, 2, i % C));
	done(&k, worst, "by the running statistics");
}

static void
test_batchnorm_dx(void)
{
	enum { N = 20, C = 4 };
	op_case k = run("batchnorm_dx", "", "x:20x4 x:4 x:4 p:4 x:20x4", "x 1 1");
	double worst = 0;

	for (size_t c = 0; c < C; c++) {
		double dbeta = 0, dgamma = 0, gamma = in_at(&k, 1, c), mean = in_at(&k, 2, c), rstd = in_at(&k, 3, c);
		for (size_t i = c; i < N * C; i += C) {
			dbeta += in_at(&k, 4, i);
			dgamma += in_at(&k, 4, i) * (in_at(&k, 0, i) - mean) * rstd;
		}
		for (size_t i = c; i < N * C; i += C)
			agree(&worst, out_at(&k, 0, i),
				gamma * rstd *
					(in_at(&k, 4, i) - dbeta / N - (in_at(&k, 0, i) - mean) * rstd * dgamma / N));
		agree(&worst, out_at(&k, 1, c), dgamma);
		agree(&worst, out_at(&k, 2, c), dbeta);
	}
	done(&k, worst, "by its definition");
}

static void
test_layernorm(void)
{
	enum { N = 7, C = 30 };
	op_case k = run("layernorm", "eps=1e-5", "x:7x30 x:30 x:30", "x c c");
	double worst = 0;

	for (size_t r = 0; r < N; r++) {
		double mean = 0, var = 0;
		for (size_t i = r * C; i < (r + 1) * C; i++)
			mean += in_at(&k, 0, i) / C;
		for (size_t i = r * C; i < (r + 1) * C; i++)
			var += pow(in_at(&k, 0, i) - mean, 2) / C;
		for (size_t i = r * C; i < (r + 1) * C; i++)
			agree(&worst, out_at(&k, 0, i),
				(in_at(&k, 0, i) - mean) / sqrt(var + 1e-5) * in_at(&k, 1, i % C) +
					in_at(&k, 2, i % C));
		agree(&worst, out_at(&k, 1, r), mean);
		agree(&worst, out_at(&k, 2, r), 1 / sqrt(var + 1e-5));
	}
	done(&k, worst, "by its definition");
}

static void
test_softmax(void)
{
	enum { N = 9, C = 10 };
	op_case k = run("softmax_xent", "", "x:9x10 L:9 W:9", "x c");
	double worst = 0, loss = 0, weight = 0;

	for (size_t r = 0; r < N; r++) {
		double sum = 0;
		for (size_t i = 0; i < C; i++)
			sum += exp(in_at(&k, 0, r * C + i));
		for (size_t i = 0; i < C; i++)
			agree(&worst, out_at(&k, 1, r * C + i), exp(in_at(&k, 0, r * C + i)) / sum);
		loss += in_at(&k, 2, r) * (log(sum) - in_at(&k, 0, r * C + (size_t)in_at(&k, 1, r)));
		weight += in_at(&k, 2, r);
	}
	agree(&worst, out_at(&k, 0, 0), loss / weight);
	done(&k, worst, "weighted mean cross-entropy and probabilities");
	k = run("softmax_xent_dx", "", "u:9x10 L:9 W:9 S", "x");
	worst = weight = 0;
	for (size_t r = 0; r < N; r++)
		weight += in_at(&k, 2, r);
	for (size_t i = 0; i < N * C; i++)
		agree(&worst, out_at(&k, 0, i),
			1024 * in_at(&k, 2, i / C) / weight *
				(in_at(&k, 0, i) - (in_at(&k, 1, i / C) == (double)(i % C))));
	done(&k, worst, "by its definition");
}

static void
test_activations(void)
{
	op_case k = run("gelu", "", "x:40x5", "x");
	double worst = 0;

	for (size_t i = 0; i < 200; i++)
		agree(&worst, out_at(&k, 0, i), 0.5 * in_at(&k, 0, i) * erfc(-in_at(&k, 0, i) * M_SQRT1_2));
	done(&k, worst, "x Phi(x)");
	k = run("gelu", "approx=tanh", "x:40x5", "x");
	worst = 0;
	for (size_t i = 0; i < 200; i++) {
		double x = in_at(&k, 0, i);
		agree(&worst, out_at(&k, 0, i), 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))));
	}
	done(&k, worst, "the approximation by tanh");
	k = run("relu", "", "x:40x5", "x");
	worst = 0;
	for (size_t i = 0; i < 200; i++)
		agree(&worst, out_at(&k, 0, i), fmax(in_at(&k, 0, i), 0));
	done(&k, worst, "max(x, 0)");
	k = run("relu_dx", "", "y:40x5 x:40x5", "x");
	worst = 0;
	for (size_t i = 0; i < 200; i++)
		agree(&worst, out_at(&k, 0, i), in_at(&k, 0, i) > 0 ? in_at(&k, 1, i) : 0);
	done(&k, worst, "dy where y > 0");
}

static void
test_updates(void)
{
	op_case k = run("sgd", "lr=0.1 momentum=0.9 weight_decay=0.01", "x:50x6 x:50x6 F x:50x6", "x 3");
	double worst = 0, t = 3, b1 = 0.9 * 0.9 * 0.9, b2 = 0.999 * 0.999 * 0.999;

	for (size_t i = 0; i < 300; i++) {
		double w = in_at(&k, 0, i), v = 0.9 * in_at(&k, 3, i) + (in_at(&k, 1, i) + 0.01 * w);
		agree(&worst, out_at(&k, 0, i), w - 0.1 * v);
		agree(&worst, out_at(&k, 1, i), v);
	}
	done(&k, worst, "momentum and weight decay");
	k = run("adamw", "lr=1e-2 beta1=0.9 beta2=0.999 eps=1e-3 weight_decay=0.1", "x:50x6 x:50x6 F x:50x6 p:50x6 C",
		"x 3 4");
	worst = 0;
	for (size_t i = 0; i < 300; i++) {
		double w = in_at(&k, 0, i), g = in_at(&k, 1, i), m = 0.9 * in_at(&k, 3, i) + 0.1 * g,
		       v = 0.999 * in_at(&k, 4, i) + 0.001 * g * g;
		agree(&worst, out_at(&k, 0, i),
			w * (1 - 1e-2 * 0.1) - 1e-2 * (m / (1 - b1)) / (sqrt(v / (1 - b2)) + 1e-3));
		agree(&worst, out_at(&k, 1, i), m);
		agree(&worst, out_at(&k, 2, i), v);
	}
	done(&k, worst, "decoupled decay, bias corrections");
	k = run("adam", "lr=1e-2 beta1=0.9 beta2=0.999 eps=1e-3", "x:50x6 x:50x6 F x:50x6 p:50x6 C", "x 3 4");
	worst = 0;
	for (size_t i = 0; i < 300; i++) {
		double g = in_at(&k, 1, i), m = in_at(&k, 3, i), v = in_at(&k, 4, i),
		       alpha = 1e-2 * sqrt(1 - b2) / (1 - b1);
		m += (g - m) * (1 - 0.9);
		v += (g * g - v) * (1 - 0.999);
		agree(&worst, out_at(&k, 0, i), in_at(&k, 0, i) - m * alpha / (sqrt(v) + 1e-3));
		agree(&worst, out_at(&k, 1, i), m);
		agree(&worst, out_at(&k, 2, i), v);
	}
	done(&k, worst, "epsilon beside the stored second moment, as in Keras");
	k = run("adam_clock", "beta1=0.9 beta2=0.999", "C F", "d");
	worst = 0;
	agree(&worst, out_at(&k, 0, 0), t + 1);
	agree(&worst, out_at(&k, 0, 1), b1 * 0.9);
	agree(&worst, out_at(&k, 0, 2), b2 * 0.999);
	done(&k, worst, "t, beta1^t, beta2^t");
}

int
main(void)
{
	test_batchnorm();
	test_batchnorm_dx();
	test_layernorm();
	test_softmax();
	test_activations();
	test_updates();
	return done_testing();
}
