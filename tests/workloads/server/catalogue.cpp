/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalogue.h"

#include "release.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace shop
{

namespace
{

std::vector<std::string> split_words(const std::string &text)
{
	std::vector<std::string> words;
	std::size_t start = 0;

	while (start < text.size()) {
		const auto end = std::min(text.find(' ', start), text.size());

		if (end > start)
			words.push_back(text.substr(start, end - start));
		start = end + 1;
	}
	return words;
}

} // namespace

const std::vector<std::string> &vocabulary()
{
	static const std::vector<std::string> words = [] {
		const char *syllables[] = { "ka", "ro", "mi", "tel", "von", "sha", "du", "pri", "lex", "bor" };
		std::vector<std::string> made;

		for (const char *a : syllables) {
			for (const char *b : syllables) {
				for (const char *c : syllables)
					made.push_back(std::string(a) + b + c);
			}
		}
		return made;
	}();

	return words;
}

Catalogue::Catalogue(std::size_t size)
{
	std::mt19937 random(7);
	const auto &words = vocabulary();

	for (std::size_t i = 0; i < size; i++) {
		Product product{ static_cast<int>(i), words[random() % words.size()] + ' ' + words[random() % 50], "",
			static_cast<double>(random() % 100000) / 100 };

		for (int j = 0; j < 40; j++)
			product.description += words[random() % words.size()] + (j % 2 ? ", " : " ");
		index_product(product);
		products_.push_back(std::move(product));
	}
}

void Catalogue::index_product(const Product &product)
{
	for (const auto &word : split_words(product.name + ' ' + normalize_query(product.description))) {
		auto &postings = index_[word];

		if (postings.empty() || postings.back() != product.id)
			postings.push_back(product.id);
	}
}

std::vector<Hit> Catalogue::search(const std::string &query, std::size_t limit) const
{
	std::unordered_map<int, double> scores;

	for (const auto &word : split_words(query)) {
		const auto found = index_.find(word);

		if (found == index_.end())
			continue;
		const double weight =
			std::log(1 + static_cast<double>(products_.size()) / static_cast<double>(found->second.size()));

		for (const int id : found->second)
			scores[id] += weight;
	}
	std::vector<Hit> hits;

	hits.reserve(scores.size());
	for (const auto &[id, score] : scores)
		hits.push_back({ id, score });
	const auto shown = std::min(limit, hits.size());

	std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(shown), hits.end(),
		[](const Hit &a, const Hit &b) { return a.score != b.score ? a.score > b.score : a.id < b.id; });
	hits.resize(shown);
	return hits;
}

} // namespace shop
