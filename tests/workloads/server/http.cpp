/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "http.h"

#include "compress.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace shop
{

namespace
{

constexpr std::size_t max_request_bytes = 1 << 20;
constexpr std::size_t least_compressed_bytes = 1024;

std::string lower(std::string_view text)
{
	std::string out(text);
	std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
	return out;
}

std::string_view trim(std::string_view text)
{
	while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
		text.remove_prefix(1);
	while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
		text.remove_suffix(1);
	return text;
}

void parse_query(std::string_view text, std::map<std::string, std::string> &query)
{
	while (!text.empty()) {
		const auto end = std::min(text.find('&'), text.size());
		const auto pair = text.substr(0, end);
		const auto equals = pair.find('=');

		if (equals != std::string_view::npos)
			query[percent_decode(pair.substr(0, equals))] = percent_decode(pair.substr(equals + 1));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
}

bool parse_request_line(std::string_view line, Request &request)
{
	const auto first = line.find(' '), last = line.rfind(' ');

	if (first == std::string_view::npos || first == last)
		return false;
	auto target = line.substr(first + 1, last - first - 1);
	const auto question = target.find('?');

	request.method = line.substr(0, first);
	request.path = percent_decode(target.substr(0, question));
	if (question != std::string_view::npos)
		parse_query(target.substr(question + 1), request.query);
	return true;
}

bool parse_headers(std::string_view head, Request &request)
{
	while (!head.empty()) {
		const auto end = std::min(head.find("\r\n"), head.size());
		const auto line = head.substr(0, end);
		const auto colon = line.find(':');

		if (colon == std::string_view::npos)
			return false;
		request.headers[lower(line.substr(0, colon))] = trim(line.substr(colon + 1));
		head.remove_prefix(std::min(end + 2, head.size()));
	}
	return true;
}

const char *reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 404:
		return "Not Found";
	default:
		return "Internal Server Error";
	}
}

} // namespace

std::string percent_decode(std::string_view text)
{
	std::string out;

	out.reserve(text.size());
	for (std::size_t i = 0; i < text.size(); i++) {
		unsigned int value = 0;

		if (text[i] == '%' && i + 2 < text.size() &&
			std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
			out.push_back(static_cast<char>(value));
			i += 2;
		} else {
			out.push_back(text[i] == '+' ? ' ' : text[i]);
		}
	}
	return out;
}

ParseResult parse_request(std::string_view bytes, Request &request, std::size_t &consumed)
{
	const auto head_end = bytes.find("\r\n\r\n");

	if (head_end == std::string_view::npos)
		return bytes.size() > max_request_bytes ? ParseResult::malformed : ParseResult::incomplete;
	const auto head = bytes.substr(0, head_end);
	const auto line_end = std::min(head.find("\r\n"), head.size());

	if (!parse_request_line(head.substr(0, line_end), request) ||
		!parse_headers(head.substr(std::min(line_end + 2, head.size())), request))
		return ParseResult::malformed;

	std::size_t length = 0;
	const auto header = request.headers.find("content-length");

	if (header != request.headers.end())
		std::from_chars(header->second.data(), header->second.data() + header->second.size(), length);
	if (length > max_request_bytes)
		return ParseResult::malformed;
	if (bytes.size() < head_end + 4 + length)
		return ParseResult::incomplete;
	request.body = bytes.substr(head_end + 4, length);
	consumed = head_end + 4 + length;
	return ParseResult::complete;
}

std::string serialize_response(const Response &response)
{
	const bool compress = response.compressible && response.body.size() >= least_compressed_bytes;
	const std::string body = compress ? compress_body(response.body) : response.body;
	std::string out = "HTTP/1.1 " + std::to_string(response.status) + ' ' + reason(response.status) + "\r\n";

	out += "Content-Type: " + response.type + "\r\n";
	if (compress)
		out += "Content-Encoding: deflate\r\n";
	out += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
	return out + body;
}

} // namespace shop
