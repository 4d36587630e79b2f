/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that interpreters write because Kelvin has asked for the names of their functions. A perf map, whose place is
 * fixed by its writers, is kept beside the counts, and V8's log, which comes with the map, is kept nowhere: neither is
 * found in /tmp or in the working directory when the program has ended.
 */
#include "sampler/simulate/tool.h"

#include <pub_tool_clientstate.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_seqmatch.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>
#include <pub_tool_xarray.h>

/* These functions are of valgrind's core, whose own headers are not installed. */
Int VG_(fcntl)(Int fd, Int command, Addr argument);

/* Recognises the log that V8 makes for each isolate: isolate-ADDRESS-PID-v8.log. */
static bool is_log_of_v8(const char *path)
{
	const char *name = VG_(basename)(path);

	return VG_(strncmp)(name, "isolate-0x", 10) == 0 && VG_(string_match)("*-v8.log", name);
}

/* Returns whether the program was asked for V8's log by an option: --prof, --log, --log-all, --logfile. */
static bool wants_log(void)
{
	for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++) {
		const HChar *word = *(HChar **)VG_(indexXA)(VG_(args_for_client), i);

		if (VG_(strncmp)(word, "--prof", 6) == 0 || VG_(strncmp)(word, "--log", 5) == 0)
			return true;
	}
	return false;
}

/* Gives the program a file beside the counts in place of the one that it has just opened. False: there is none. */
static bool replace_map(int fd, UWord flags)
{
	HChar path[VKI_PATH_MAX];
	SysRes opened;
	Int descriptor_flags;
	bool is_replaced;

	VG_(snprintf)(path, sizeof(path), "%s/perf-%d.map", tool_options.directory, VG_(getpid)());
	opened = VG_(open)(path, (Int)(flags & ~(UWord)VKI_O_EXCL), 0600);
	if (sr_isError(opened))
		return false;
	descriptor_flags = VG_(fcntl)(fd, VKI_F_GETFD, 0);
	is_replaced = !sr_isError(VG_(dup2)((Int)sr_Res(opened), fd));
	if (is_replaced && descriptor_flags > 0)
		VG_(fcntl)(fd, VKI_F_SETFD, descriptor_flags);
	VG_(close)((Int)sr_Res(opened));
	return is_replaced;
}

static void tool_files_take_file(const char *path, UWord flags, int fd)
{
	HChar map[32];

	if (!(flags & VKI_O_CREAT))
		return;
	VG_(snprintf)(map, sizeof(map), "/tmp/perf-%d.map", VG_(getpid)());
	if ((VG_(strcmp)(path, map) == 0 && replace_map(fd, flags)) || (is_log_of_v8(path) && !wants_log()))
		VG_(unlink)(path);
}

void tool_file_opened(UWord number, const UWord *arguments, SysRes result)
{
	if (sr_isError(result))
		return;
	if (number == __NR_open)
		tool_files_take_file((const char *)arguments[0], arguments[1], (int)sr_Res(result));
	else if (number == __NR_openat && ((int)arguments[0] == VKI_AT_FDCWD || *(const char *)arguments[1] == '/'))
		tool_files_take_file((const char *)arguments[1], arguments[2], (int)sr_Res(result));
}
