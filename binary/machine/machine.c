/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/machine/machine.h"

#include "binary/machine/x86_64.h"

#include <string.h>
#include <sys/auxv.h>

static const struct machine *const machines[] = { &machine_x86_64 };

const struct machine *machine_of(uint16_t elf_machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i]->elf_machine == elf_machine)
			return machines[i];
	return NULL;
}

const struct machine *machine_named(const char *name)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (name && strcmp(machines[i]->name, name) == 0)
			return machines[i];
	return NULL;
}

const struct machine *machine_host(void)
{
	return machine_named((const char *)getauxval(AT_PLATFORM));
}

struct machine_decoder *machine_decoder_create(const struct machine *machine)
{
	return machine->create_decoder();
}

void machine_load_decoders(void)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		machine_decoder_destroy(machine_decoder_create(machines[i]));
}

bool machine_format_instruction(
	struct machine_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address, struct machine_text *text)
{
	return decoder->machine->format && decoder->machine->format(decoder, bytes, size, address, text);
}

void machine_decoder_destroy(struct machine_decoder *decoder)
{
	if (decoder)
		decoder->machine->destroy_decoder(decoder);
}

static bool machine_is_at(const struct machine_stack_address *address, uint8_t base)
{
	return address->base == base && address->offset == 0;
}

bool machine_frame_is_none(const struct machine *machine, const struct machine_frame *frame)
{
	if (!machine_is_at(&frame->stack_pointer, machine->stack_pointer) ||
		!machine_is_at(&frame->frame_pointer, machine->frame_pointer))
		return false;
	for (size_t i = 0; i < MACHINE_SAVED; i++)
		if (frame->saved[i].base != 0)
			return false;
	return true;
}

uint64_t machine_number_value(const uint8_t *instruction, const struct machine_number *number)
{
	unsigned int unused_bits = 64 - 8 * (unsigned int)number->size;
	uint64_t value = 0;

	if (number->size == 0 || number->size > sizeof(value))
		return 0;
	memcpy(&value, instruction + number->offset, number->size);
	return number->is_signed ? (uint64_t)((int64_t)(value << unused_bits) >> unused_bits) : value;
}

enum machine_call machine_call_of(const struct machine *machine, int64_t number)
{
	return number >= 0 && (uint64_t)number < machine->system_call_count
		       ? (enum machine_call)machine->system_calls[number]
		       : MACHINE_CALL_OTHER;
}
