/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>

namespace shop
{

struct LoadOptions {
	std::uint16_t port;
	unsigned int connections;
	unsigned int rate; /* requests per second over all connections; 0: as fast as answers come */
};

/* Sends requests over loopback until the server closes the connections: one thread a connection. The mix is the same
 * every time. */
void generate_load(const LoadOptions &options);

} // namespace shop
