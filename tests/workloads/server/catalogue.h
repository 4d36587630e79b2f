/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace shop
{

struct Product {
	int id;
	std::string name, description;
	double price;
};

struct Hit {
	int id;
	double score;
};

/* All products in memory, with an inverted index over their words. Immutable once made. */
class Catalogue
{
      public:
	explicit Catalogue(std::size_t size);

	const Product &product(std::size_t id) const
	{
		return products_[id % products_.size()];
	}

	std::size_t size() const
	{
		return products_.size();
	}

	/* The best `limit` hits for a normalised query, by falling score. */
	std::vector<Hit> search(const std::string &query, std::size_t limit) const;

      private:
	void index_product(const Product &product);

	std::vector<Product> products_;
	std::unordered_map<std::string, std::vector<int>> index_;
};

/* Words that products and queries are made of. */
const std::vector<std::string> &vocabulary();

} // namespace shop
