/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * The names that a JVM gives to the code that it makes, in the spellings of those who write them down:
 *	`java.lang.Object java.util.HashMap.get(java.lang.Object)`  HotSpot's perf map
 *	`Ljava/util/HashMap;get(Ljava/lang/Object;)V`               perf's libperf-jvmti.so
 *	`Ljava/util/HashMap;::get`                                  perf-map-agent
 *	`java/util/HashMap.get`                                     async-profiler
 *
 * What bears no class is the JVM's own: `vtable chunks`, `StubRoutines (2)`, `_new_array_Java`.
 */

/* Whether the name is that of a class's method. */
bool profile_java_is_method(const char *name);

/* Whether it is a method of the class libraries of the JDK, or of another language for the JVM. */
bool profile_java_is_standard(const char *name);
