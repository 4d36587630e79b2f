/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/save.h"

#include "common/common.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

static bool bench_save_name_file(const char *directory, const char *side, char path[PATH_MAX], struct error *err)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/%s.pb.gz", directory, side) < PATH_MAX)
		return true;
	return error_set(err, ERROR_LIMIT, "the directory's name is too long");
}

static bool bench_save_check(const char *directory, const char *side, struct error *err)
{
	char path[PATH_MAX];

	return (bench_save_name_file(directory, side, path, err) && file_check_writable(path, err)) ||
	       error_prefix(err, "--save");
}

bool bench_save_prepare(const char *directory, struct error *err)
{
	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		return error_set_errno(err, errno, "--save: cannot make %s", directory);
	return bench_save_check(directory, "base", err) && bench_save_check(directory, "head", err);
}

bool bench_save(const char *directory, const char *side, const struct profile *profile, mode_t mode, struct error *err)
{
	char path[PATH_MAX];
	uint64_t bytes;

	return bench_save_name_file(directory, side, path, err) && profile_write_file(profile, path, mode, &bytes, err);
}
