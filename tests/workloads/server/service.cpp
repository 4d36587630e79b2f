/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "service.h"

#include "json.h"
#include "page.h"
#include "release.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace shop
{

namespace
{

constexpr std::size_t max_visited = 32;

std::string money(double value)
{
	char text[32];

	std::snprintf(text, sizeof(text), "%.2f", value);
	return text;
}

std::string query_value(const Request &request, const std::string &key)
{
	const auto found = request.query.find(key);

	return found == request.query.end() ? std::string() : found->second;
}

std::string session_id(const Request &request)
{
	const auto found = request.headers.find("cookie");

	return found == request.headers.end() ? std::string("anonymous") : found->second;
}

/* The words of a description around the first one that was asked for. */
std::string snippet(const std::string &description, const std::string &query)
{
	constexpr std::size_t before = 40, length = 160;
	const std::string text = normalize_query(description);
	std::size_t best = text.size(), start = 0;

	while (start < query.size()) {
		const auto end = std::min(query.find(' ', start), query.size());

		best = std::min(best, text.find(query.substr(start, end - start)));
		start = end + 1;
	}
	return text.substr(best > before && best < text.size() ? best - before : 0, length);
}

std::string log_line(const Request &request, const Response &response, unsigned long check)
{
	char text[256];

	std::snprintf(text, sizeof(text), "%.8s %.80s status=%d bytes=%zu check=%016lx session=%.40s", request.method.c_str(),
		request.path.c_str(), response.status, response.body.size(), check, session_id(request).c_str());
	return text;
}

} // namespace

unsigned long Sessions::touch(const std::string &id, int product)
{
	std::lock_guard lock(mutex_);
	Session &session = sessions_[id];

	if (session.user.empty())
		session.user = "user of " + id;
	if (product >= 0) {
		if (session.visited.size() >= max_visited)
			session.visited.erase(session.visited.begin());
		session.visited.push_back(product);
	}
	return ++session.requests;
}

Service::Service(const Catalogue &catalogue, Sessions &sessions, Log &log, Store &store)
    : catalogue_(catalogue), sessions_(sessions), log_(log), store_(store), routes_{ { "GET /product", &Service::show_product },
	      { "GET /search", &Service::search }, { "POST /order", &Service::order }, { "GET /report", &Service::report } }
{
}

std::string Service::product_rows(const std::vector<Hit> &hits, const std::string &query) const
{
	std::string rows;

	for (const auto &hit : hits) {
		const Product &product = catalogue_.product(static_cast<std::size_t>(hit.id));

		rows += render_page(
			row_page, { { "id", std::to_string(product.id) }, { "name", product.name },
					  { "price", money(product.price) }, { "extra", snippet(product.description, query) } });
	}
	return rows;
}

Response Service::show_product(const Request &request)
{
	const auto id = std::strtoul(query_value(request, "id").c_str(), nullptr, 10);
	const Product &product = catalogue_.product(id);
	const Stock stock = store_.stock(product.id);
	Response response;

	sessions_.touch(session_id(request), product.id);
	response.body = render_page(
		product_page, { { "name", product.name }, { "price", money(product.price) }, { "description", product.description },
				      { "stock", std::to_string(stock.left) }, { "sold", std::to_string(stock.sold) },
				      { "others", product_rows(catalogue_.search(product.name, 6), product.name) },
				      { "session", session_id(request) } });
	return response;
}

Response Service::search(const Request &request)
{
	const std::string query = normalize_query(query_value(request, "q"));
	const auto hits = catalogue_.search(query, 20);
	Response response;

	sessions_.touch(session_id(request), -1);
	response.body =
		render_page(search_page, { { "query", query }, { "count", std::to_string(hits.size()) },
						 { "rows", product_rows(hits, query) }, { "session", session_id(request) } });
	return response;
}

Response Service::order(const Request &request)
{
	const Json json = parse_json(request.body);
	const JsonArray *items = json.array("items");
	std::vector<OrderLine> lines;
	double sum = 0;
	Response response;

	if (!items)
		throw std::invalid_argument("order without items");
	for (const auto &item : *items) {
		const Product &product = catalogue_.product(static_cast<std::size_t>(item.number("id", 0)));
		const int quantity = static_cast<int>(item.number("quantity", 1));

		lines.push_back({ product.id, quantity, product.price });
		sum += quantity * product.price;
		sessions_.touch(session_id(request), product.id);
	}
	response.type = "application/json";
	response.body = render_page(
		cart_page, { { "session", session_id(request) }, { "items", std::to_string(lines.size()) }, { "sum", money(sum) },
				   { "order", std::to_string(store_.insert_order(session_id(request), lines)) } });
	return response;
}

Response Service::report(const Request &)
{
	Response response;

	response.type = "application/json";
	response.body = "[";
	for (const auto &sales : store_.best_sellers(40)) {
		const Product &product = catalogue_.product(static_cast<std::size_t>(sales.product));

		response.body += (response.body.size() > 1 ? ", {\"name\": " : "{\"name\": ") + quote_json(product.name) +
				 ", \"sum\": " + money(sales.sum) + "}";
	}
	response.body += "]";
	return response;
}

Response Service::handle(const Request &request)
{
	const unsigned long check = check_request(request);
	const auto route = routes_.find(request.method + ' ' + request.path);
	Response response;

	if (route == routes_.end()) {
		response.status = 404;
	} else {
		try {
			response = (this->*route->second)(request);
		} catch (const std::invalid_argument &error) {
			response.status = 400;
			response.body = error.what();
		}
	}
	log_.write(log_line(request, response, check));
	return response;
}

} // namespace shop
