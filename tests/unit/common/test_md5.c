/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/md5.h"

#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>

static void expect(const void *bytes, size_t size, const char *expected)
{
	uint8_t digest[MD5_BYTES];
	char text[2 * MD5_BYTES + 1];

	md5(bytes, size, digest);
	for (size_t i = 0; i < MD5_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(text, expected);
}

/* RFC 1321, A.5. */
static void digests_are_those_of_the_standard(void **state)
{
	static const char *const suite[][2] = {
		{ "", "d41d8cd98f00b204e9800998ecf8427e" },
		{ "a", "0cc175b9c0f1b6a831c399e269772661" },
		{ "abc", "900150983cd24fb0d6963f7d28e17f72" },
		{ "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
		{ "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
			"d174ab98d277d9f5a5611c2c9f419d9f" },
		{ "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
			"57edf4a22be3c955ac49da2e2107b67a" },
	};

	for (size_t i = 0; i < sizeof(suite) / sizeof(suite[0]); i++)
		expect(suite[i][0], strlen(suite[i][0]), suite[i][1]);
}

/* Around the ends of blocks; as md5sum has them, of so many letters x. */
static void lengths_around_a_block_are_padded(void **state)
{
	static const struct {
		size_t size;
		const char *digest;
	} cases[] = {
		{ 55, "04364420e25c512fd958a70738aa8f72" },
		{ 56, "668a72d5ba17f08e62dabcafad6db14b" },
		{ 57, "693037871c4a9d3d8685018905cb530a" },
		{ 63, "7dc2ca208106a2f703567bdff99d8981" },
		{ 64, "c1bb4f81d892b2d57947682aeb252456" },
		{ 65, "1bc932052302d074bdec39795fe00cf6" },
		{ 119, "ab347a5f68c8a443cfcddc633f12c24f" },
		{ 120, "fb98667f98096de92620b64f46e1c5b5" },
		{ 128, "d69cb61a6ee87200676eb0d4b90edbcb" },
		{ 200, "30a83621ce5422fbdfdd539777458c78" },
	};
	char bytes[256];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(bytes, cases[i].size, cases[i].digest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_those_of_the_standard),
		cmocka_unit_test(lengths_around_a_block_are_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
