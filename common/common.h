/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The base of all rooms. It knows nothing of profiling and needs libc, libseccomp and libdeflate only. Other rooms
 * include this header, which includes all parts.
 */
#include "common/arena.h"
#include "common/array.h"
#include "common/buffer.h"
#include "common/byte_reader.h"
#include "common/checked.h"
#include "common/child.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/confined.h"
#include "common/deadline.h"
#include "common/digits.h"
#include "common/error.h"
#include "common/file.h"
#include "common/filter.h"
#include "common/glob.h"
#include "common/gzip.h"
#include "common/hash_map.h"
#include "common/installation.h"
#include "common/isolated.h"
#include "common/message.h"
#include "common/order.h"
#include "common/own_directory.h"
#include "common/protobuf.h"
#include "common/remove.h"
#include "common/rights.h"
#include "common/string_table.h"
#include "common/temporary.h"
#include "common/text_lines.h"
#include "common/undumped.h"
#include "common/unicode.h"
#include "common/work_pool.h"
#include "common/wrap.h"
