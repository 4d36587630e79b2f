/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "http.h"

#include <string>

namespace shop
{

/*
 * The only code in which the releases differ (SERVER_VERSION 1, 2 and 3); all other objects are linked into all
 * unchanged.
 *
 *   normalize_query   does the same in all, in 2 by repeated erasing instead of one pass
 *   verify_checksum   in 1 and 3
 *   audit_request     in 2 only
 *   take_quota        in 3 only: under a lock of all workers it waits for an answer
 */

/* Lower case, punctuation as spaces, one space between words. */
std::string normalize_query(const std::string &text);

/* What each release does to a request before it is routed; mixed into the log line. */
unsigned long check_request(const Request &request);

} // namespace shop
