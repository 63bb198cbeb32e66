// SPDX-License-Identifier: Apache-2.0
// libhalfulp from C++: what one owns is freed by a unique_ptr, a failure becomes an exception, and threads share a
// model.
//
//     c++ -std=c++17 library.cpp $(pkg-config --cflags --libs halfulp) -pthread -o library && ./library
#include <halfulp/halfulp.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

static void must(halfulp_status st)
{
	if (st != HALFULP_OK)
		throw std::runtime_error(halfulp_reason());
}

int main()
{
	try {
		const halfulp_format *fp8, *fp32;
		must(halfulp_format_find(&fp8, "e4m3"));
		must(halfulp_format_find(&fp32, "fp32"));
		halfulp_sum *made;
		must(halfulp_sum_parse(&made, "tc:ada", fp8, fp8, fp32));
		std::unique_ptr<halfulp_sum, decltype(&halfulp_sum_free)> unit(made, halfulp_sum_free);

		std::vector<double> a(512), b(512), y(4);
		for (std::size_t i = 0; i < a.size(); i++) {
			a[i] = 1.0 / static_cast<double>(i + 1);
			b[i] = i % 2 ? -1.0 : 1.0;
		}
		must(halfulp_round(a.data(), a.data(), a.size(), fp8, HALFULP_RNE, 0, 0, 0));
		std::vector<std::thread> threads;
		for (std::size_t t = 0; t < y.size(); t++)
			threads.emplace_back([&, t] {
				if (halfulp_sum_dot(&y[t], unit.get(), a.data(), b.data(), a.size(), 0) != HALFULP_OK)
					y[t] = -1;
			});
		for (auto &thread : threads)
			thread.join();
		double bound;
		must(halfulp_sum_bound(&bound, unit.get(), a.data(), b.data(), a.size()));
		std::printf("%s: %.9g, on 4 threads %s; the error is at most %.3g\n", halfulp_sum_text(unit.get()), y[0],
			y[0] == y[1] && y[1] == y[2] && y[2] == y[3] ? "the same" : "different", bound);
		must(halfulp_sum_parse(&made, "fma,acc=fp33", fp8, fp8, fp32));
	} catch (const std::exception &e) {
		std::printf("a failure: %s\n", e.what());
	}
	return 0;
}
