/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace shop
{

namespace
{

class Parser
{
      public:
	explicit Parser(std::string_view text) : text_(text)
	{
	}

	Json parse()
	{
		Json json = parse_value(0);

		skip_spaces();
		if (at_ != text_.size())
			fail();
		return json;
	}

      private:
	static constexpr int max_depth = 64;

	[[noreturn]] void fail() const
	{
		throw std::invalid_argument("JSON: unexpected byte at " + std::to_string(at_));
	}

	void skip_spaces()
	{
		while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
			at_++;
	}

	char peek()
	{
		skip_spaces();
		if (at_ == text_.size())
			fail();
		return text_[at_];
	}

	void expect(char c)
	{
		if (peek() != c)
			fail();
		at_++;
	}

	bool take(char c)
	{
		if (peek() != c)
			return false;
		at_++;
		return true;
	}

	Json parse_value(int depth)
	{
		if (depth > max_depth)
			fail();
		switch (peek()) {
		case '{':
			return { parse_object(depth) };
		case '[':
			return { parse_array(depth) };
		case '"':
			return { parse_string() };
		case 't':
			return parse_word("true", { true });
		case 'f':
			return parse_word("false", { false });
		case 'n':
			return parse_word("null", {});
		default:
			return { parse_number() };
		}
	}

	JsonObject parse_object(int depth)
	{
		JsonObject object;

		expect('{');
		if (take('}'))
			return object;
		do {
			peek();
			std::string key = parse_string();

			expect(':');
			object.emplace(std::move(key), parse_value(depth + 1));
		} while (take(','));
		expect('}');
		return object;
	}

	JsonArray parse_array(int depth)
	{
		JsonArray array;

		expect('[');
		if (take(']'))
			return array;
		do
			array.push_back(parse_value(depth + 1));
		while (take(','));
		expect(']');
		return array;
	}

	std::string parse_string()
	{
		std::string out;

		expect('"');
		while (at_ < text_.size() && text_[at_] != '"') {
			if (text_[at_] == '\\' && at_ + 1 < text_.size())
				at_++;
			out.push_back(text_[at_++]);
		}
		if (at_ == text_.size())
			fail();
		at_++;
		return out;
	}

	double parse_number()
	{
		double value = 0;
		const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);

		if (result.ec != std::errc())
			fail();
		at_ = static_cast<std::size_t>(result.ptr - text_.data());
		return value;
	}

	Json parse_word(std::string_view word, Json json)
	{
		if (text_.substr(at_, word.size()) != word)
			fail();
		at_ += word.size();
		return json;
	}

	std::string_view text_;
	std::size_t at_ = 0;
};

const Json *member(const Json &json, const std::string &key)
{
	const auto *object = std::get_if<JsonObject>(&json.value);

	if (!object)
		return nullptr;
	const auto found = object->find(key);
	return found == object->end() ? nullptr : &found->second;
}

} // namespace

double Json::number(const std::string &key, double fallback) const
{
	const Json *found = member(*this, key);
	const double *number = found ? std::get_if<double>(&found->value) : nullptr;

	return number ? *number : fallback;
}

std::string Json::text(const std::string &key) const
{
	const Json *found = member(*this, key);
	const std::string *text = found ? std::get_if<std::string>(&found->value) : nullptr;

	return text ? *text : std::string();
}

const JsonArray *Json::array(const std::string &key) const
{
	const Json *found = member(*this, key);

	return found ? std::get_if<JsonArray>(&found->value) : nullptr;
}

Json parse_json(std::string_view text)
{
	return Parser(text).parse();
}

std::string quote_json(const std::string &text)
{
	std::string out = "\"";

	for (const char c : text) {
		if (c == '"' || c == '\\')
			out.push_back('\\');
		if (static_cast<unsigned char>(c) < 0x20) {
			char escape[8];

			std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned char>(c));
			out += escape;
		} else {
			out.push_back(c);
		}
	}
	return out + '"';
}

} // namespace shop
