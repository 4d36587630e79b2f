/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process holds of the kernel's BPF objects. */
enum kernel_object_kind { KERNEL_OBJECT_PROGRAM, KERNEL_OBJECT_MAP, KERNEL_OBJECT_LINK, KERNEL_OBJECT_KINDS };

struct kernel_object {
	enum kernel_object_kind kind;
	uint32_t id;
};

enum { KERNEL_OBJECTS_MOST = 32 };

/* Reads the descriptors of the process (/proc/PID/fdinfo) and returns the number found, KERNEL_OBJECTS_MOST at most. */
size_t kernel_objects_of(pid_t pid, struct kernel_object *objects);

size_t kernel_objects_count(const struct kernel_object *objects, size_t count, enum kernel_object_kind kind);

/* Whether the kernel still knows the object. */
bool kernel_object_exists(const struct kernel_object *object);
