// SPDX-License-Identifier: GPL-3.0-or-later
#include "shelf.h"

#include <cstdio>
#include <exception>

struct Thin : shelf::Book {
	int price() const override { return clamp(pages); }
};

static int unused_twice(int value)
{
	return value * 2;
}

// Collected where sections are.
int dropped(int value)
{
	return unused_twice(value) + shelf::counted();
}

template <int N> __attribute__((noinline)) int repeat(const shelf::Book &book)
{
	int sum = 0;

	for (int i = 0; i < N; i++)
		sum += book.price() ^ i;
	return sum;
}

int main(int argc, char **argv)
{
	std::vector<shelf::Book> books;
	shelf::Ring<std::string> words;

	for (int i = 0; i < argc; i++) {
		shelf::Book book;

		book.title = words.push(argv[i]);
		book.pages = i + 1;
		books.push_back(book);
	}
	try {
		Thin thin;
		int sum = shelf::total(books) + repeat<3>(thin) + repeat<5>(books.front());

		for (const auto &[title, pages] : shelf::by_title(books))
			std::printf("%s %d\n", title.c_str(), pages + sum);
	} catch (const std::exception &error) {
		std::puts(error.what());
	}
	return 0;
}
