/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The names that a JVM gives to the code that it makes, in the spellings of those who write them down:
 *	`java.lang.Object java.util.HashMap.get(java.lang.Object)`  HotSpot's perf map
 *	`Ljava/util/HashMap;get(Ljava/lang/Object;)V`               perf's libperf-jvmti.so
 *	`Ljava/util/HashMap;::get`                                  perf-map-agent
 *	`java/util/HashMap.get`                                     async-profiler
 *
 * What bears no class is the JVM's own: `vtable chunks`, `StubRoutines (2)`, `_new_array_Java`.
 */

/* Returns whether the name is that of a class's method. */
bool profile_java_is_method(const char *name);

/* Returns whether it is a method of the class libraries of the JDK, or of another language for the JVM. */
bool profile_java_is_standard(const char *name);

/*
 * Appends a method's name as people read it: `HashMap.get(Object)` without its result and without packages. What a JVM
 * appends to the names of classes that it makes at run time is left out. What is no method stays as it is.
 */
void profile_java_shown(const char *name, struct buffer *out);

/* Appends the package of a method's class: `java.util`; nothing if it has none. */
void profile_java_package(const char *name, struct buffer *out);
