// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

// Templates, lambdas, a class in namespaces, an anonymous namespace, the standard library inlined.

namespace shop
{
namespace
{
int hidden(int value)
{
	return value * 3 + 1;
}
} // namespace

class Basket
{
public:
	explicit Basket(int limit) : limit_(limit) {}
	void add(const std::string &name, int price);
	template <typename Visitor> int visit(Visitor visitor) const;

private:
	int limit_;
	std::map<std::string, int> items_;
};

__attribute__((noinline)) void Basket::add(const std::string &name, int price)
{
	if (static_cast<int>(items_.size()) < limit_)
		items_[name] += hidden(price);
}

template <typename Visitor> __attribute__((noinline)) int Basket::visit(Visitor visitor) const
{
	int total = 0;

	for (const auto &item : items_)
		total += visitor(item.first, item.second);
	return total;
}
} // namespace shop

int main(int argc, char **)
{
	shop::Basket basket(100 + argc);
	std::vector<int> prices;

	for (int i = 0; i < 50; i++)
		prices.push_back((i * 7919) % 101);
	std::sort(prices.begin(), prices.end(), [](int a, int b) { return a > b; });
	for (int price : prices)
		basket.add("item " + std::to_string(price), price);
	std::printf("%d\n", basket.visit([argc](const std::string &name, int price) { return price + argc + (int)name.size(); }));
	return 0;
}
