/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/verify/library.h"

#include <dlfcn.h>
#include <string.h>

/* The library's function names are macros, which stand for this machine's functions: _Ux86_64_step. */
#define NAME_(name) #name
#define NAME(name) NAME_(name)

static const char library_name[] = "libunwind-x86_64.so.8";

static bool library_find_function(const struct unwind_library *library, const char *name, void *function)
{
	void *symbol = dlsym(library->handle, name);

	/* POSIX gives a function's address the size of a pointer to data. */
	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

bool unwind_library_open(struct unwind_library *library, struct error *err)
{
	struct unwind_library l = { .handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL) };

	if (l.handle && library_find_function(&l, NAME(unw_create_addr_space), &l.create_addr_space) &&
		library_find_function(&l, NAME(unw_destroy_addr_space), &l.destroy_addr_space) &&
		library_find_function(&l, NAME(unw_set_caching_policy), &l.set_caching_policy) &&
		library_find_function(&l, NAME(unw_init_remote), &l.init_remote) &&
		library_find_function(&l, NAME(unw_step), &l.step) &&
		library_find_function(&l, NAME(unw_get_reg), &l.get_reg) &&
		library_find_function(&l, NAME(unw_is_signal_frame), &l.is_signal_frame) &&
		library_find_function(&l, NAME(UNW_OBJ(dwarf_search_unwind_table)), &l.search_unwind_table)) {
		*library = l;
		return true;
	}
	unwind_library_close(&l);
	return error_set(err, ERROR_UNSUPPORTED,
		"--verify needs libunwind, but %s cannot be loaded; install it (Debian: apt install libunwind8). A static build of Kelvin loads no libraries",
		library_name);
}

void unwind_library_close(struct unwind_library *library)
{
	if (library->handle)
		dlclose(library->handle);
	*library = (struct unwind_library){ 0 };
}
