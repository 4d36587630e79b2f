// SPDX-License-Identifier: GPL-3.0-or-later
// A service of cpp-httplib: httplib PORT.
#include <algorithm>
#include <httplib.h>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

struct order {
	int id;
	std::string name;
	double price;
};

static std::vector<order> orders;

static std::string as_json()
{
	std::ostringstream out;
	out << "[";
	for (const order &o : orders)
		out << "{\"id\":" << o.id << ",\"name\":\"" << o.name << "\",\"price\":" << o.price << "},";
	out << "]";
	return out.str();
}

static std::string sorted()
{
	std::vector<order> copy = orders;
	std::sort(copy.begin(), copy.end(), [](const order &a, const order &b) { return a.name < b.name; });
	return copy[0].name;
}

static std::string words()
{
	std::map<std::string, int> counts;
	for (const order &o : orders) {
		std::istringstream in(o.name);
		for (std::string word; in >> word;)
			counts[word]++;
	}
	return std::to_string(counts.size());
}

static std::string matching()
{
	static const std::regex pattern("order ([0-9]+)7 of customer ([0-9])");
	int found = 0;
	for (size_t i = 0; i < orders.size(); i += 4)
		found += std::regex_search(orders[i].name, pattern);
	return std::to_string(found);
}

int main(int argc, char **argv)
{
	httplib::Server server;

	for (int i = 0; i < 120; i++)
		orders.push_back({ i, "order " + std::to_string(i * 7919 % 503) + " of customer " + std::to_string(i % 9), i * 1.25 });
	server.Get("/json", [](const httplib::Request &, httplib::Response &answer) { answer.set_content(as_json(), "application/json"); });
	server.Get("/sorted", [](const httplib::Request &, httplib::Response &answer) { answer.set_content(sorted(), "text/plain"); });
	server.Get("/words", [](const httplib::Request &, httplib::Response &answer) { answer.set_content(words(), "text/plain"); });
	server.Get("/matching", [](const httplib::Request &, httplib::Response &answer) { answer.set_content(matching(), "text/plain"); });
	server.set_keep_alive_max_count(1000000);
	server.set_tcp_nodelay(true);
	return argc > 1 && server.listen("127.0.0.1", atoi(argv[1])) ? 0 : 1;
}
