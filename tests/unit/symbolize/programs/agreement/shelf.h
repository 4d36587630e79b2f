// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

// Shared by both units: inline functions, templates, a class that both see, a static local.

namespace shelf
{
template <typename Value> struct Ring {
	std::vector<Value> items;
	size_t next = 0;

	Value &push(const Value &value)
	{
		if (items.size() < 16)
			items.push_back(value);
		else
			items[next % items.size()] = value;
		return items[next++ % items.size()];
	}
};

struct Book {
	std::string title;
	int pages = 0;

	[[nodiscard]] int weight() const
	{
		return clamp(pages * 2 + static_cast<int>(title.size()));
	}
	static int clamp(int grams)
	{
		return grams > 900 ? 900 : grams;
	}
	virtual ~Book() = default;
	virtual int price() const;
};

inline int counted()
{
	static int count;
	return ++count;
}

int total(const std::vector<Book> &books);
std::unordered_map<std::string, int> by_title(const std::vector<Book> &books);
} // namespace shelf
