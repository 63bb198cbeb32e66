/* SPDX-License-Identifier: Apache-2.0
   The program starts and answers with and without CUDA, a driver, a device. */
#include "cuda/device/device.h"
#include "t/tool/tap.h"

#include <string.h>

int
main(void)
{
	char name[128] = "unset";
	int n = hu_device_count();

	ok(n >= 0, "devices are counted: %d", n);
	ok((n == 0) == (strlen(hu_device_why()) > 0), "where there is none, a reason is given: \"%s\"",
		hu_device_why());
	is_int(hu_device_name(n, name, sizeof name), 0, "there is no device past the last");
	is_text(name, "", "and its name is empty");
	is_int(hu_device_name(-1, name, sizeof name), 0, "nor one before the first");
	ok(hu_cuda_built() || n == 0, "a build without CUDA has no device");
	if (!n)
		skip(1, "%s", hu_device_why());
	else
		ok(hu_device_name(0, name, sizeof name) && *name, "device 0 is %s", name);
	return done_testing();
}
