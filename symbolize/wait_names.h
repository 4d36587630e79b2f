/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * What a thread waits for in functions of the kernel and of the C library, for recordings that tell no more than the
 * stack. Everything else that knows classes knows more: a system call, its descriptor.
 *
 * Returns PROFILE_WAIT_NONE for functions that say nothing, such as schedule(). `name` is as the binary has it:
 * epoll_wait, __x64_sys_poll, __libc_accept and __GI___nanosleep are known by what remains without their prefixes.
 */
enum profile_wait_class wait_class_of_function(const char *name);
