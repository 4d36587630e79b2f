/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

namespace shop
{

const std::string product_page =
	"<!doctype html><html><head><title>{{name}}</title></head><body><h1>{{name}}</h1>"
	"<p class=\"price\">{{price}} EUR</p><p>{{description}}</p><p>{{stock}} in stock, sold {{sold}} times</p>"
	"<h2>Others also bought</h2><ul>{{{others}}}</ul><footer>Session {{session}}</footer></body></html>";
const std::string row_page =
	"<li><a href=\"/product?id={{id}}\">{{name}}</a> <span>{{price}} EUR</span> <small>{{extra}}</small></li>\n";
const std::string search_page =
	"<!doctype html><html><head><title>{{query}}</title></head><body><h1>{{count}} hits for {{query}}</h1>"
	"<ol>{{{rows}}}</ol><footer>Session {{session}}</footer></body></html>";
const std::string cart_page = "{\"session\": \"{{session}}\", \"items\": {{items}}, \"sum\": {{sum}}, \"order\": {{order}}}";

std::string escape_html(const std::string &text)
{
	std::string out;

	out.reserve(text.size());
	for (const char c : text) {
		switch (c) {
		case '<':
			out += "&lt;";
			break;
		case '>':
			out += "&gt;";
			break;
		case '&':
			out += "&amp;";
			break;
		case '"':
			out += "&quot;";
			break;
		default:
			out.push_back(c);
		}
	}
	return out;
}

std::string render_page(const std::string &page, const PageValues &values)
{
	std::string out;
	std::size_t at = 0;

	for (;;) {
		const auto open = page.find("{{", at);

		if (open == std::string::npos)
			return out.append(page, at);
		const bool bare = page.compare(open, 3, "{{{") == 0;
		const auto start = open + (bare ? 3 : 2), end = page.find(bare ? "}}}" : "}}", start);

		if (end == std::string::npos)
			return out.append(page, at);
		out.append(page, at, open - at);
		const auto value = values.find(page.substr(start, end - start));

		if (value != values.end())
			out += bare ? value->second : escape_html(value->second);
		at = end + (bare ? 3 : 2);
	}
}

} // namespace shop
