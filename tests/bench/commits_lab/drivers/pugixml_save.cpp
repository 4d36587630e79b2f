/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pugixml.hpp"

#include <string>

struct counter : pugi::xml_writer {
	size_t bytes = 0;
	void write(const void *, size_t size) override { bytes += size; }
};

int main()
{
	std::string text = "<root>";
	counter all;

	for (int i = 0; i < 3000; i++)
		text += "<item id='12' name=\"a name of an item\"><b>some text &amp; more of it, which is longer</b><c/></item>\n";
	text += "</root>";
	for (int i = 0; i < 100; i++) {
		pugi::xml_document document;

		document.load_string(text.c_str());
		for (int j = 0; j < 3; j++)
			document.save(all);
	}
	return all.bytes == 0;
}
