/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/machine/machine.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <sys/utsname.h>

static void a_record_is_chosen_by_e_machine(void **state)
{
	const struct machine *machine = machine_of(EM_X86_64);

	assert_non_null(machine);
	assert_int_equal(machine->elf_machine, EM_X86_64);
	assert_ptr_equal(machine_named("x86_64"), machine);
}

static void others_have_none(void **state)
{
	static const uint16_t others[] = { EM_NONE, EM_386, EM_68K, EM_S390, UINT16_MAX };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(machine_of(others[i]));
	assert_null(machine_named("m68k"));
	assert_null(machine_named("i686"));
	assert_null(machine_named(""));
	assert_null(machine_named(NULL));
}

/* uname(2) tells a 32-bit machine to programs that asked for it. */
static void the_host_is_what_the_kernel_says(void **state)
{
	struct utsname name;

	assert_int_equal(uname(&name), 0);
	if (!machine_named(name.machine))
		skip();
	assert_ptr_equal(machine_host(), machine_named(name.machine));
}

/* ---- What holds of every record ---- */

static void check_saved(const struct machine *machine)
{
	size_t saved = 0;

	for (size_t i = 0; i < MACHINE_MAX_REGISTERS; i++) {
		uint8_t index = machine->saved_index[i];

		if (index == MACHINE_NOT_SAVED)
			continue;
		assert_true(i < machine->register_count && index < MACHINE_SAVED);
		assert_int_equal(machine->saved_registers[index], i);
		saved++;
	}
	assert_int_equal(saved, MACHINE_SAVED);
	assert_int_not_equal(machine->saved_index[machine->frame_pointer], MACHINE_NOT_SAVED);
	/* The walk keeps these itself. */
	assert_int_equal(machine->saved_index[machine->stack_pointer], MACHINE_NOT_SAVED);
	assert_int_equal(machine->saved_index[machine->program_counter], MACHINE_NOT_SAVED);
}

/* Each of perf's registers has a place of its own among DWARF's. */
static void check_perf(const struct machine *machine)
{
	uint64_t met = 0;

	assert_int_equal(__builtin_popcountll(machine->perf_registers), machine->perf_register_count);
	assert_int_equal(machine->perf_registers & machine->perf_least_registers, machine->perf_least_registers);
	assert_int_equal(machine->perf_register_count, machine->register_count);
	for (size_t i = 0; i < machine->perf_register_count; i++)
		met |= (uint64_t)1 << machine->perf_order[i];
	assert_int_equal(met, ((uint64_t)1 << machine->register_count) - 1);
}

/* What a compact rule or a frame calls unknown is register 0. */
static void check_registers(const struct machine *machine)
{
	const uint8_t numbers[] = { machine->stack_pointer, machine->frame_pointer, machine->program_counter,
		machine->return_column };

	assert_true(machine->register_count <= MACHINE_MAX_REGISTERS);
	for (size_t i = 0; i < sizeof(numbers); i++)
		assert_true(numbers[i] > 0 && numbers[i] < machine->register_count);
}

static void records_are_consistent(void **state)
{
	size_t count = 0;

	for (unsigned int i = 0; i <= UINT16_MAX; i++) {
		const struct machine *machine = machine_of((uint16_t)i);

		if (!machine)
			continue;
		count++;
		assert_ptr_equal(machine_named(machine->name), machine);
		check_registers(machine);
		check_saved(machine);
		check_perf(machine);
	}
	assert_true(count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_chosen_by_e_machine),
		cmocka_unit_test(others_have_none),
		cmocka_unit_test(the_host_is_what_the_kernel_says),
		cmocka_unit_test(records_are_consistent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
