/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a server repeats of a secret is not shown, however it writes it. */
#include "profile/store/conceal.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static char token[] = "kv_7Q/x+pL 9\"&Zr\\tuvwxyz", user[] = "deploy", password[] = "correct horse 8attery";
static const struct store_secrets by_token = { .token = token }, by_password = { .user = user, .password = password };

static void expect(const struct store_secrets *secrets, const char *text, const char *shown)
{
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	conceal_secrets(secrets, copy);
	assert_string_equal(copy, shown);
}

static void it_is_found_in_every_form(void **state)
{
	expect(&by_token, "bad token kv_7Q/x+pL 9\"&Zr\\tuvwxyz!", "bad token ***!");
	expect(&by_token, "%6bv_7Q%2Fx%2bpL+9%22%26Zr%5Ctuvwxyz&", "***&");
	expect(&by_token, "%256bv_7Q%252Fx%252bpL%209%22%26Zr%5Ctuvwxyz&", "***&");
	expect(&by_token, "{\"token\":\"kv_7Q\\/x\\u002bpL 9\\\"&Zr\\\\tuvwxyz\"}", "{\"token\":\"***\"}");
	expect(&by_token, "<b>kv_7Q/x&#43;pL 9&quot;&amp;Zr&#x5C;tuvwxyz</b>", "<b>***</b>");
	expect(&by_token, "6B765F37512F782B704C203922265A725C7475767778797a.", "***.");
	/* By base64(1): of the token; of "u:" and it; of "id:" and it; with the other alphabet. */
	expect(&by_token, "a3ZfN1EveCtwTCA5IiZaclx0dXZ3eHl6 is refused", "*** is refused");
	expect(&by_token, "dTprdl83US94K3BMIDkiJlpyXHR1dnd4eXo= is refused", "dTp***= is refused");
	expect(&by_token, "aWQ6a3ZfN1EveCtwTCA5IiZaclx0dXZ3eHl6", "aWQ6***");
	expect(&by_token, "dTprdl83US94K3BMIDkiJlpyXHR1dnd4eXo%3D", "dTp***%3D");
	expect(&by_password,
		"Authorization: Basic ZGVwbG95OmNvcnJlY3QgaG9yc2UgOGF0dGVyeQ==", "Authorization: Basic ***==");
	/* The same and the password in Base64, in hexadecimal; the last one is not at a whole pair. */
	expect(&by_password, "<5a475677624739354f6d4e76636e4a6c5933516761473979633255674f4746306447567965513d3d>",
		"<***3d3d>");
	expect(&by_password, "0x1 59323979636D566A6443426F62334A7A5A534134595852305A584A35", "0x1 ***");
	expect(&by_password, "%61159323979636d566a6443426f62334a7a5a534134595852305a584a35", "%611***");
	expect(&by_password, "correct+horse+8attery, correct%20horse%208attery", "***, ***");
}

static void parts_are_concealed(void **state)
{
	expect(&by_password, "user deploy: 'correct horse ...'", "user deploy: '***...'");
	expect(&by_password, "it ends in rse 8attery", "it ends in ***");
	expect(&by_password, "the horse 8 is seven", "the*** is seven");
	expect(&by_password, "line: ZGVwbG95OmNvcnJl Y3QgaG9yc2Ug", "line: *** ***");
	expect(&by_password, "6f72736520386174 746572", "*** 746572");
	/* What says less stays, and so does the user's name. */
	expect(&by_password, "no horse, no deploy: incorrect", "no horse, no deploy: incorrect");
}

/* None of its parts that are ASCII has eight bytes. */
static void characters_are_found_in_every_form(void **state)
{
	static char accented[] = "p\u00e4ssw\u00f6rt\U0001f600er-\u00fcbel";
	const struct store_secrets secrets = { .user = user, .password = accented };

	expect(&secrets, "<p\u00e4ssw\u00f6rt\U0001f600er-\u00fcbel>", "<***>");
	expect(&secrets, "{\"is\": \"p\\u00e4ssw\\u00f6rt\\ud83d\\ude00er-\\u00FCbel\"}", "{\"is\": \"***\"}");
	expect(&secrets, "<b>p&#228;ssw&#xf6;rt&#128512;er-&#xFC;bel</b>", "<b>***</b>");
	expect(&secrets, "p%c3%a4ssw%C3%B6rt%F0%9F%98%80er-%C3%BCbel.", "***.");
	expect(&secrets, "p\\xc3\\xa4ssw\\xc3\\xb6rt\\xf0\\x9f\\x98\\x80er-\\xc3\\xbcbel.", "***.");
	/* What is none stays. */
	expect(&secrets, "\\ud83d\\u0041 \\ud83d &#0; &#99999999999999999999; %00 \\u00",
		"\\ud83d\\u0041 \\ud83d &#0; &#99999999999999999999; %00 \\u00");
}

static void short_secrets_are_whole(void **state)
{
	static char word[] = "abc", nobody[] = "u";
	const struct store_secrets secrets = { .user = nobody, .password = word };

	expect(&secrets, "is abc, not ab or %61bc", "is ***, not ab or ***");
	expect(&secrets, "Basic dTphYmM= is not", "Basic ***= is not");
	expect(&(struct store_secrets){ .user = nobody }, "Basic dTo= u:", "Basic dTo= u:");
	expect(&(struct store_secrets){ 0 }, "nothing %41 &", "nothing %41 &");
	expect(&by_token, "", "");
	expect(&by_token, "%", "%");
	expect(&by_token, "&#", "&#");
	expect(&by_token, "\\", "\\");
}

static void without_memory_nothing_is_shown(void **state)
{
	const char *const text = "token kv_7Q/x+pL 9\"&Zr";
	char copy[64];

	for (size_t count = 0;; count++) {
		strcpy(copy, text);
		failing_malloc_after(count);
		conceal_secrets(&by_token, copy);
		failing_malloc_after(SIZE_MAX);
		if (copy[0])
			break;
	}
	assert_string_equal(copy, "token ***");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_in_every_form),
		cmocka_unit_test(parts_are_concealed),
		cmocka_unit_test(characters_are_found_in_every_form),
		cmocka_unit_test(short_secrets_are_whole),
		cmocka_unit_test(without_memory_nothing_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
