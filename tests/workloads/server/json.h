/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shop
{

struct Json;
using JsonArray = std::vector<Json>;
using JsonObject = std::map<std::string, Json>;

struct Json {
	std::variant<std::nullptr_t, bool, double, std::string, JsonArray, JsonObject> value = nullptr;

	double number(const std::string &key, double fallback) const;
	std::string text(const std::string &key) const;
	const JsonArray *array(const std::string &key) const;
};

/* Throws std::invalid_argument with the offset. */
Json parse_json(std::string_view text);

std::string quote_json(const std::string &text);

} // namespace shop
