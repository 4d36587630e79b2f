/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/rights.h"

#include "common/cleanup.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The definitions of linux/landlock.h of the newest known version, as headers of a system may be older than its kernel
 * (Documentation/userspace-api/landlock.rst).
 */
struct landlock_rules {
	uint64_t handled_files, handled_network, scoped;
};

struct landlock_below {
	uint64_t allowed;
	int32_t directory;
} __attribute__((packed));

enum {
	LANDLOCK_VERSION = 1,      /* flag of landlock_create_ruleset(2) */
	LANDLOCK_PATH_BENEATH = 1, /* kind of landlock_add_rule(2) */
	LANDLOCK_EXECUTE = 1 << 0,
	LANDLOCK_WRITE_FILE = 1 << 1,
	LANDLOCK_READ_FILE = 1 << 2,
	LANDLOCK_READ_DIRECTORY = 1 << 3,
	LANDLOCK_FILES_1 = (1 << 13) - 1, /* from executing to making symbolic links */
	LANDLOCK_REFER = 1 << 13,
	LANDLOCK_TRUNCATE = 1 << 14,
	LANDLOCK_DEVICE_IOCTL = 1 << 15,
	LANDLOCK_TCP = 1 | 2,    /* bind, connect */
	LANDLOCK_OTHERS = 1 | 2, /* abstract sockets, signals */
};

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

static bool has_no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/* ---- Capabilities ---- */

struct capability_sets {
	uint64_t effective, permitted, inheritable;
};

static bool get_capabilities(struct capability_sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	*sets = (struct capability_sets){ data[0].effective | (uint64_t)data[1].effective << 32,
		data[0].permitted | (uint64_t)data[1].permitted << 32,
		data[0].inheritable | (uint64_t)data[1].inheritable << 32 };
	return true;
}

static bool set_capabilities(uint64_t capabilities)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	uint32_t low = (uint32_t)capabilities, high = (uint32_t)(capabilities >> 32);
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { low, low, 0 }, { high, high, 0 } };

	return syscall(SYS_capset, &header, data) == 0;
}

/* The kernel may know more capabilities than the headers; it refuses a number that it does not know. */
static bool drop_bounding_set(uint64_t kept)
{
	enum { MOST_CAPABILITIES = 64 };

	for (int i = 0; i < MOST_CAPABILITIES && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!(kept & RIGHTS_CAPABILITY(i)) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
			return false;
	return true;
}

static bool lock_secure_bits(void)
{
	unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
			     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) == 0;
}

unsigned int rights_keep(uint64_t capabilities)
{
	struct capability_sets sets;
	unsigned int left = 0;

	if (!get_capabilities(&sets))
		return RIGHTS_LEFT_CAPABILITIES | (has_no_new_privileges() ? 0 : RIGHTS_LEFT_EXEC);
	/* Where these two are not to be had, no_new_privs alone keeps an executed program from getting more. */
	if (sets.effective & RIGHTS_CAPABILITY(CAP_SETPCAP))
		left |= drop_bounding_set(capabilities) && lock_secure_bits() ? 0 : RIGHTS_LEFT_EXEC;
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)set_capabilities(sets.permitted & capabilities);
	if (!has_no_new_privileges())
		left |= RIGHTS_LEFT_EXEC;
	if (!get_capabilities(&sets) || ((sets.permitted & ~capabilities) | sets.inheritable) != 0)
		left |= RIGHTS_LEFT_CAPABILITIES;
	return left;
}

/* ---- User ---- */

/*
 * Users from 0x70000000 to 0x7fffffff are nobody's: neither systemd nor useradd nor a container is given any of them
 * (systemd, "Users, Groups, UIDs and GIDs on systemd Systems"). A process id is below 2^22.
 */
enum { FIRST_USER = 0x7f000000 };
/*
 * User ids in a container with fewer users: those between the dynamic ones of systemd and nobody, which nobody is given
 * either.
 */
enum { FIRST_SMALL_USER = 65520, SMALL_USERS = 14 };

uid_t rights_user(pid_t number)
{
	return FIRST_USER + (uid_t)number;
}

static bool common_rights_become(id_t id)
{
	return setgroups(0, NULL) == 0 && setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0;
}

unsigned int rights_become(uid_t user)
{
	if (geteuid() != 0 || common_rights_become(user) || common_rights_become(FIRST_SMALL_USER + user % SMALL_USERS))
		return 0;
	return RIGHTS_LEFT_USER;
}

static bool take_groups(const struct passwd *account)
{
	enum { MOST_GROUPS = 1 << 16, NO_GROUP = 65534 };
	int count = MOST_GROUPS;
	CLEANUP(cleanup_free) gid_t *groups = calloc(MOST_GROUPS, sizeof(*groups));
	gid_t group = account ? account->pw_gid : NO_GROUP;

	if (!groups)
		return false;
	if (!account || getgrouplist(account->pw_name, group, groups, &count) < 0)
		count = 0;
	return setgroups((size_t)count, groups) == 0 && setresgid(group, group, group) == 0;
}

unsigned int rights_become_account(uid_t user)
{
	/* Root's capability to read files needs no groups, and no database that tells them. */
	return take_groups(user == 0 ? NULL : getpwuid(user)) && setresuid(user, user, user) == 0 ? 0
												  : RIGHTS_LEFT_USER;
}

/* ---- Files ---- */

/* Returns what this version of Landlock cannot refuse. */
static unsigned int left_by_version(long version)
{
	enum { WITH_TRUNCATE = 3, WITH_TCP = 4, WITH_DEVICES = 5, WITH_OTHERS = 6 };

	return (version < WITH_TRUNCATE ? RIGHTS_LEFT_TRUNCATE : 0) | (version < WITH_TCP ? RIGHTS_LEFT_TCP : 0) |
	       (version < WITH_DEVICES ? RIGHTS_LEFT_DEVICES : 0) | (version < WITH_OTHERS ? RIGHTS_LEFT_OTHERS : 0);
}

/* All that is handled is refused, as no rule allows it anywhere. The kernel refuses a bit that it does not know. */
static struct landlock_rules rules_of_version(long version, uint64_t allowed_files)
{
	unsigned int left = left_by_version(version);
	uint64_t files = LANDLOCK_FILES_1 | (version >= 2 ? LANDLOCK_REFER : 0) |
			 (left & RIGHTS_LEFT_TRUNCATE ? 0 : LANDLOCK_TRUNCATE) |
			 (left & RIGHTS_LEFT_DEVICES ? 0 : LANDLOCK_DEVICE_IOCTL);

	return (struct landlock_rules){ .handled_files = files & ~allowed_files,
		.handled_network = left & RIGHTS_LEFT_TCP ? 0 : LANDLOCK_TCP,
		.scoped = left & RIGHTS_LEFT_OTHERS ? 0 : LANDLOCK_OTHERS };
}

/* The accesses that are allowed in a domain. */
struct domain {
	uint64_t files;                     /* everywhere */
	const struct rights_places *places; /* NULL: nothing else */
};

static bool allow_place(int rules, int place, uint64_t more)
{
	struct landlock_below rule = { LANDLOCK_READ_FILE | more, place };
	struct stat info;

	if (fstat(place, &info) != 0)
		return false;
	if (S_ISDIR(info.st_mode))
		rule.allowed |= LANDLOCK_READ_DIRECTORY;
	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_PATH_BENEATH, &rule, 0) == 0;
}

static bool allow_path(int rules, const char *path, uint64_t more)
{
	CLEANUP(cleanup_close) int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 || allow_place(rules, fd, more);
}

static bool allow_places(int rules, const struct rights_places *places)
{
	bool ok = !places->runs || allow_path(rules, "/dev/null", LANDLOCK_WRITE_FILE);

	for (size_t i = 0; ok && i < places->path_count; i++)
		ok = allow_path(rules, places->paths[i], places->runs ? LANDLOCK_EXECUTE : 0);
	for (size_t i = 0; ok && i < places->directory_count; i++)
		ok = allow_place(rules, places->directories[i], 0);
	return ok;
}

static unsigned int enter_domain(const struct domain *domain)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
	struct landlock_rules rules = rules_of_version(version, domain->files);
	CLEANUP(cleanup_close) int fd = -1;
	bool ok;

	if (domain->places)
		rules.handled_network = 0;
	if (version >= 1 && has_no_new_privileges())
		fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	ok = fd >= 0 && (!domain->places || allow_places(fd, domain->places));
	if (!ok || syscall(SYS_landlock_restrict_self, fd, 0) != 0)
		return RIGHTS_LEFT_FILES | left_by_version(0);
	return left_by_version(version);
}

unsigned int rights_read_only(void)
{
	return enter_domain(&(struct domain){ .files = LANDLOCK_READ_FILE | LANDLOCK_READ_DIRECTORY });
}

unsigned int rights_no_files(void)
{
	return enter_domain(&(struct domain){ 0 });
}

unsigned int rights_read_below(const struct rights_places *places)
{
	return enter_domain(&(struct domain){ .places = places }) & ~(unsigned int)RIGHTS_LEFT_TCP;
}

/* ---- Core dumps ---- */

unsigned int rights_undumpable(void)
{
	struct rlimit limit;
	bool is_limited = getrlimit(RLIMIT_CORE, &limit) == 0;

	limit.rlim_cur = 0;
	is_limited = is_limited && setrlimit(RLIMIT_CORE, &limit) == 0;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && is_limited ? 0 : RIGHTS_LEFT_DUMP;
}
