// SPDX-License-Identifier: GPL-3.0-or-later
#include "shelf.h"

#include <algorithm>
#include <stdexcept>

namespace shelf
{
namespace
{
Ring<int> recent;

[[gnu::cold, gnu::noinline]] void complain(const Book &book)
{
	throw std::runtime_error("no pages in " + book.title);
}
} // namespace

int Book::price() const
{
	if (pages == 0)
		complain(*this);
	return recent.push(weight() / 3);
}

int total(const std::vector<Book> &books)
{
	int sum = 0;

	for (const Book &book : books)
		sum += book.price() + counted();
	return sum;
}

std::unordered_map<std::string, int> by_title(const std::vector<Book> &books)
{
	std::unordered_map<std::string, int> map;
	std::vector<const Book *> sorted;

	for (const Book &book : books)
		sorted.push_back(&book);
	std::sort(sorted.begin(), sorted.end(), [](const Book *a, const Book *b) { return a->title < b->title; });
	for (const Book *book : sorted)
		map[book->title] += [&](int pages) { return Book::clamp(pages) + counted(); }(book->pages);
	return map;
}
} // namespace shelf
