/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compress.h"

#include <stdexcept>
#include <zlib.h>

namespace shop
{

namespace
{

/* Kept by each thread: setting one up costs more than compressing a page. */
class Compressor
{
      public:
	Compressor()
	{
		if (deflateInit(&stream_, Z_DEFAULT_COMPRESSION) != Z_OK)
			throw std::runtime_error("deflateInit failed");
	}

	~Compressor()
	{
		deflateEnd(&stream_);
	}

	Compressor(const Compressor &) = delete;
	Compressor &operator=(const Compressor &) = delete;

	std::string compress(const std::string &body)
	{
		std::string out(deflateBound(&stream_, body.size()), '\0');

		deflateReset(&stream_);
		stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(body.data()));
		stream_.avail_in = static_cast<uInt>(body.size());
		stream_.next_out = reinterpret_cast<Bytef *>(out.data());
		stream_.avail_out = static_cast<uInt>(out.size());
		if (deflate(&stream_, Z_FINISH) != Z_STREAM_END)
			throw std::runtime_error("deflate failed");
		out.resize(out.size() - stream_.avail_out);
		return out;
	}

      private:
	z_stream stream_{};
};

} // namespace

std::string compress_body(const std::string &body)
{
	static thread_local Compressor compressor;

	return compressor.compress(body);
}

} // namespace shop
