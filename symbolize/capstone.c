/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/capstone.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	{ "cs_open", offsetof(struct capstone, open) },
	{ "cs_close", offsetof(struct capstone, close) },
	{ "cs_option", offsetof(struct capstone, option) },
	{ "cs_malloc", offsetof(struct capstone, new_insn) },
	{ "cs_free", offsetof(struct capstone, free_insn) },
	{ "cs_disasm_iter", offsetof(struct capstone, next) },
	{ "cs_insn_group", offsetof(struct capstone, is_in_group) },
};

bool capstone_init(struct capstone *capstone)
{
	*capstone = (struct capstone){ .library = dlopen("libcapstone.so." TEXT(CS_API_MAJOR), RTLD_LAZY | RTLD_LOCAL) };
	if (!capstone->library)
		return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(capstone->library, functions[i].name);

		if (!found) {
			capstone_deinit(capstone);
			return false;
		}
		memcpy((char *)capstone + functions[i].offset, &found, sizeof(found));
	}
	return true;
}

void capstone_deinit(struct capstone *capstone)
{
	if (capstone->library)
		dlclose(capstone->library);
	*capstone = (struct capstone){ 0 };
}
