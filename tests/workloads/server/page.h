/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <map>
#include <string>

namespace shop
{

using PageValues = std::map<std::string, std::string>;

/* Replaces `{{name}}` by the escaped value and `{{{name}}}` by the bare one. */
std::string render_page(const std::string &page, const PageValues &values);

std::string escape_html(const std::string &text);

extern const std::string product_page, row_page, search_page, cart_page;

} // namespace shop
