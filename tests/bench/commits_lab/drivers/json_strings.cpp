/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <nlohmann/json.hpp>

int main()
{
	std::string text = "[";

	for (int i = 0; i < 2000; i++)
		text += "{\"name of a member\": \"a string of about sixty characters, as they are in many documents\", \"n\": 12.5},";
	text += "1]";
	for (int i = 0; i < 20; i++)
		if (nlohmann::json::parse(text).size() == 0)
			return 1;
	return 0;
}
