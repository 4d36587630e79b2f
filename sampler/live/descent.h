/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Has the kernel add each process that a process of the map starts to the map, before it runs: a BPF program on its tracepoint of
 * new tasks (include/trace/events/task.h). The sideband tells of it when the rings are read next, and what has run by then was left
 * out. The program is given the kernel's own structures where the kernel says how these look (/sys/kernel/btf/vmlinux), and
 * elsewhere what tracefs describes.
 *
 * map_fd  a BPF hash map from ids in the initial pid namespace to a number, both of 32 bits
 *
 * Returns a descriptor that the caller owns, and that keeps the program at work; -1 where it cannot be had: without privileges, or
 * where the kernel says nothing of its types and tracefs is not mounted.
 */
int descent_follow(int map_fd);
