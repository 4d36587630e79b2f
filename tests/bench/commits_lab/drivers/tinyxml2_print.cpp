/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tinyxml2.h"

#include <string>

int main()
{
	std::string text = "<root>";

	for (int i = 0; i < 3000; i++)
		text += "<item id='12' name=\"a name of an item\"><b>some text &amp; more of it</b><c/></item>\n";
	text += "</root>";
	for (int i = 0; i < 25; i++) {
		tinyxml2::XMLDocument document;

		document.Parse(text.c_str());
		for (int j = 0; j < 4; j++) {
			tinyxml2::XMLPrinter printer;

			document.Print(&printer);
		}
	}
	return 0;
}
