/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <string>

namespace shop
{

/* zlib's format. */
std::string compress_body(const std::string &body);

} // namespace shop
