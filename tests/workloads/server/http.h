/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace shop
{

struct Request {
	std::string method, path, body;
	std::map<std::string, std::string> query, headers;
};

struct Response {
	int status = 200;
	std::string type = "text/html; charset=utf-8", body;
	bool compressible = true;
};

enum class ParseResult { complete, incomplete, malformed };

/* One HTTP/1.1 request at the front of `bytes`; `consumed` is its size when it is complete. */
ParseResult parse_request(std::string_view bytes, Request &request, std::size_t &consumed);

/* Headers and body as they go over the wire; compresses what is worth it. */
std::string serialize_response(const Response &response);

std::string percent_decode(std::string_view text);

} // namespace shop
