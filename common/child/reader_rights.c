/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/reader_rights.h"

#include "common/child/child.h"
#include "common/child/rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

bool reader_rights_become(const struct reader_rights *rights)
{
	bool is_root = rights->is_user_known && rights->user == 0;
	uint64_t kept = rights->capabilities | (is_root ? RIGHTS_CAPABILITY(CAP_DAC_READ_SEARCH) : 0);
	pid_t parent = getppid();
	uid_t nobody = rights_user(RIGHTS_BROKER, getpid());
	bool ok = geteuid() != 0 || prctl(PR_SET_KEEPCAPS, 1) == 0;

	if (ok && geteuid() == 0)
		ok = (rights->is_user_known ? rights_become_account(rights->user) : rights_become(nobody)) == 0;
	if (!ok || (rights_keep(kept) & RIGHTS_LEFT_CAPABILITIES))
		return false;
	(void)!rights_undumpable();
	/* The change of user has cleared what confined_fork() set. */
	child_end_with(parent);
	/* What these cannot take here, a confined child lacks too, and says so. */
	if (!child_is_sanitized())
		(void)!rights_read_only();
	(void)!filter_enter_working(rights->rules, rights->rule_count);
	return true;
}
