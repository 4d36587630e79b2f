/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kernel.h"

#include "sampler/ebpf/ebpf.h"
#include "symbolize/kallsyms.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <string.h>

/* The kernel that runs must say of its functions what it prints in /proc/kallsyms. */

static bool begin(void **names)
{
	struct ebpf_kernel_names *made = NULL;
	struct error refusal;
	bool ok = ebpf_kernel_names_create(&made, &refusal);

	*names = made;
	return ok;
}

static char *print(void *names, uint64_t address)
{
	return ebpf_kernel_names_print(names, address);
}

static void end(void *names)
{
	ebpf_kernel_names_destroy(names);
}

static const struct symbolize_kernel kernel = { begin, print, end };

enum { EVERY = 101, MOST = 4096 };

/* Without BPF programs, which other tests load and unload meanwhile. */
static size_t read_some_functions(uint64_t *addresses)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[1024], type;
	size_t count = 0;

	for (size_t i = 0; file && count < MOST && fgets(line, sizeof(line), file); i++)
		if (i % EVERY == 0 && sscanf(line, "%llx %c", &address, &type) == 2 && strchr("tTwW", type) &&
			address && !strstr(line, "\t[bpf]"))
			addresses[count++] = address + 1;
	if (file)
		fclose(file);
	return count;
}

static void says_what_kallsyms_says(void **state)
{
	static uint64_t addresses[MOST];
	size_t count = read_some_functions(addresses);
	struct symbol_map *asked, *read;
	bool restricted;
	struct file_opened file;
	struct error err;

	assert_true(kernel_ask(&kernel, addresses, count, &asked, &err));
	assert_true(count > 100);
	file = (struct file_opened){ strdup("/proc/kallsyms"), open("/proc/kallsyms", O_RDONLY | O_CLOEXEC) };
	assert_true(file.name && file.fd >= 0);
	assert_true(kallsyms_read(&file, addresses, count, &read, &restricted, &err));
	file_opened_deinit(&file);
	for (size_t i = 0; i < count; i++) {
		struct symbol_map_symbol by_kernel, by_file;

		assert_true(symbol_map_find(asked, addresses[i], &by_kernel));
		assert_true(symbol_map_find(read, addresses[i], &by_file));
		assert_string_equal(by_kernel.name, by_file.name);
		assert_string_equal(by_kernel.module, by_file.module);
	}
	symbol_map_destroy(asked);
	symbol_map_destroy(read);
}

static void knows_nothing_of_what_is_no_function(void **state)
{
	const uint64_t addresses[] = { 0, 4096, 0x7fffffffffff, UINT64_MAX };
	struct symbol_map *asked;
	struct symbol_map_symbol hit;
	struct error err;

	assert_true(kernel_ask(&kernel, addresses, 4, &asked, &err));
	for (size_t i = 0; i < 4; i++)
		assert_false(symbol_map_find(asked, addresses[i], &hit));
	symbol_map_destroy(asked);
	assert_true(kernel_ask(&kernel, NULL, 0, &asked, &err));
	symbol_map_destroy(asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_kallsyms_says),
		cmocka_unit_test(knows_nothing_of_what_is_no_function),
	};
	struct symbol_map *asked;
	struct error err;

	if (!kernel_ask(&kernel, NULL, 0, &asked, &err) || !asked) {
		fprintf(stderr, "the kernel may not be asked here (CAP_BPF and CAP_PERFMON)\n");
		return 77;
	}
	symbol_map_destroy(asked);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
