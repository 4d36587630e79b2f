/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/word.h"
#include "tests/unit/routes/taking.h"

static void assert_kept(const char *text, const char *expected)
{
	struct text_cursor kept = word_kept(text_over(text, strlen(text)));
	char *copy = strndup(kept.at, text_left(kept));

	if (strcmp(copy, expected) != 0)
		fail_msg("\"%s\" became \"%s\", not \"%s\"", text, copy, expected);
	free(copy);
}

static void words_are_kept(void **state)
{
	static const char *const words[] = { "orders", "v1", "v2", "v10", "v1beta1", "v1alpha", "v1p1beta1", "v1.2",
		"oauth2", "s3", "utf8", "ipv4", "ipv6", "http2", "md5", "sha1", "sha256", "base64", "x509", "i18n",
		"k8s", "e2e", "2fa", "web3", "auth0", "api", "rpc", "xml", "xmlrpc", "svc", "mgmt", "db", "vpn", "dns",
		"healthz", "livez", "readyz", "getUpdates", "sendMessage", "exchangeInfo", "chat.postMessage",
		"users.lookupByEmail", ".well-known", "openid-configuration", "index.html", "favicon.ico", "robots.txt",
		"wp-json", "wp-admin", "admin-ajax.php", "_search", "_bulk", "_cat", "customresourcedefinitions",
		"validatingwebhookconfigurations", "rate_limit", "code-scanning", "auth", "graphql", "metrics",
		"swagger.json", "oauth2-callback", "a-day-in-november", "helloworld.Greeter", "grpc.health.v1.Health",
		"google.pubsub.v1.Publisher", "BatchGetDocuments", "Orders" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_kept(words[i], words[i]);
}

static void names_of_services_lose_their_first_parts(void **state)
{
	assert_kept("opentelemetry.proto.collector.trace.v1.TraceService", "proto.collector.trace.v1.TraceService");
	assert_kept("grpc.reflection.v1alpha.ServerReflection", "grpc.reflection.v1alpha.ServerReflection");
	assert_kept("this-is-a-slug-that-is-longer-than-is-kept", "");
}

/* What is somebody's: numbers, names in an address, tokens by the shapes that their issuers document. */
static const char *const data[] = {
	/* numbers and dates */
	"1",
	"17",
	"0x1f",
	"12345678901234567890",
	"-5",
	"3.14",
	"1e9",
	"2024-11-30",
	"20241130",
	"2024-11-30T12:00:00Z",
	"30.11.2024",
	"11-2024",
	"Q4-2024",
	"12h",
	"192.168.0.1",
	"fe80::1",
	"+491701234567",
	"0170-1234567",
	/* UUIDs and hexadecimal digits */
	"550e8400-e29b-41d4-a716-446655440000",
	"550E8400-E29B-41D4-A716-446655440000",
	"{550e8400-e29b-41d4-a716-446655440000}",
	"550e8400e29b41d4a716446655440000",
	"urn:uuid:550e8400-e29b-41d4-a716-446655440000",
	"deadbeef",
	"DEADBEEF",
	"cafebabe",
	"feedface",
	"abcdefab",
	"9f86d081884c7d65",
	"d41d8cd98f00b204e9800998ecf8427e",
	"00000000-0000-0000-0000-000000000000",
	"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
	"5f4dcc3b",
	"507f1f77bcf86cd799439011",
	/* other kinds of ids: ULID, KSUID, nanoid, snowflake, short links */
	"01ARZ3NDEKTSV4RRFFQ69G5FAV",
	"0ujtsYcgvSTl8PAuAdqWYSMnLOv",
	"V1StGXR8_Z5jdHi6B-myT",
	"175928847299117063",
	"dQw4w9WgXcQ",
	"bxkq4Zt",
	"a1b2c3",
	"a1-b2-c3",
	"x7f9k",
	"nginx-7d9c8f6b5-x2x4z",
	"p-12345",
	"user42",
	"order-1001",
	"alice1985",
	"bob.smith77",
	"R2D2C3",
	"AB12CD",
	/* JWT */
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UifQ.",
	"eyJhbGciOiJub25lIn0",
	/* GitHub, GitLab, Slack, Stripe, AWS, Google, npm, PyPI, SendGrid, Twilio, Telegram, Shopify, Square, OpenAI,
	   Discord */
	"ghp_16C7e42F292c6912E7710c838347Ae178B4a",
	"github_pat_11ABCDEFG0abcdefghijkl",
	"gho_16C7e42F292c6912E7710c838347Ae1",
	"glpat-ABCdef123456ghiJKL78",
	"xoxb-123456789012-abcdefGHIJKL",
	"xoxp-1234-5678-abcd",
	"T024BE7LD",
	"C061EG9SL",
	"sk_live_4eC39HqLyjWDarjtT1zdp7dc",
	"pk_test_TYooMQauvdEDq54NiTphI7jx",
	"cus_NffrFeUfNV2Hib",
	"pi_3MtwBwLkdIwHu7ix28a3tqPa",
	"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	"AKIAIOSFODNN7EXAMPLE",
	"wJalrXUtnFEMI",
	"ASIAQNZGKIQY56JQ7WML",
	"AIzaSyA1B2C3D4E5F6G7H8I9J0K1L2M3N4O5P6Q",
	"ya29.a0AfH6SMBx",
	"npm_abcdefABCDEF0123456789",
	"pypi-AgEIcHlwaS5vcmcCJDEx",
	"SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf",
	"AC32a3c49700934481addd5ce1659f04d2",
	"123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
	"shpat_c0ffee1234deadbeef5678",
	"sq0atp-abcdefghijklmnopqrstuv1",
	"sk-proj-abcDEF123ghiJKL456",
	"mfa.VkO_2G4Qv3T1aF7jEwMd9",
	/* base64 and drawn letters */
	"c2VjcmV0IHRva2Vu",
	"SGVsbG8gV29ybGQhIQ==",
	"QWxhZGRpbjpvcGVuIHNlc2FtZQ",
	"xkcdqwrtplmnbvzs",
	"qzxjvkwpbfhgmdlt",
	"ZQXJKVWPTRBNMLKC",
	"XbQzKdWvRtGhJkLm",
	"abCdEfGhIjKlMnOp",
	"kjhgfdsaqwrtzxcv",
	"mjxq-vwkz-bhdt-plgc",
	/* addresses, parameters, codes */
	"alice@example.com",
	"alice%40example.com",
	"@alice",
	"~alice",
	"me@",
	"a=b",
	"key=secret",
	"path;jsessionid=1A2B3C",
	"foo;v=1",
	"foo:bar",
	"instances:undelete",
	"50%",
	"report%20final.pdf",
	"caf%C3%A9",
	"a+b",
	"a b",
	"a,b",
	"(1)",
	"$filter",
	"!!",
	"*",
	"'",
	"\"",
	"<script>",
	"{id}",
	"{…}",
	"`x`",
	"\\x",
	"a|b",
	"a&b",
	"#",
	/* letters that are no ASCII, and what moves the cursor or the direction of a text */
	"café",
	"Zoë",
	"日本",
	"user\x1b[2J",
	"\x1b]0;x\x07",
	"a\x7f",
	"\xe2\x80\xae"
	"drowssap",
	"\xff\xfe",
	"a\xcc\x81",
	"a\tb",
	"a\nb",
	"\xc2\x9b"
	"31m",
	/* too long */
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

static void what_is_somebodys_is_not_kept(void **state)
{
	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++)
		assert_kept(data[i], "");
}

/* The same at each place of a path, in each protocol that has paths. */
static void no_place_of_a_path_lets_data_through(void **state)
{
	char request[1024];

	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++) {
		/* What ends a target is no part of it, and a tab or blank ends the line. */
		if (strpbrk(data[i], "#? \n\t"))
			continue;
		snprintf(request, sizeof(request), "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n", data[i]);
		assert_routes(request, "GET /{id}");
		snprintf(request, sizeof(request), "POST /v1/%s/items/%s HTTP/1.1\r\n", data[i], data[i]);
		assert_routes(request, "POST /v1/{id}/items/{id}");
		snprintf(request, sizeof(request), "GET http://%s@%s/a/%s?q=%s HTTP/1.1\r\n", data[i], data[i], data[i],
			data[i]);
		if (!strchr(data[i], '/'))
			assert_routes(request, "GET /a/{id}");
	}
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t drawn_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static double share_kept(const char *alphabet, size_t size, unsigned int draws)
{
	uint64_t state = 17;
	unsigned int kept = 0;
	char text[64];

	for (unsigned int i = 0; i < draws; i++) {
		for (size_t k = 0; k < size; k++)
			text[k] = alphabet[drawn_next(&state) % strlen(alphabet)];
		kept += text_left(word_kept(text_over(text, size))) > 0;
	}
	return (double)kept / draws;
}

static void drawn_texts_are_kept_in_one_of_hundreds(void **state)
{
	static const char small[] = "abcdefghijklmnopqrstuvwxyz", hexadecimal[] = "0123456789abcdef";
	static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

	assert_true(share_kept(hexadecimal, 8, 100000) < 0.0005);
	assert_true(share_kept(hexadecimal, 16, 100000) == 0);
	assert_true(share_kept(base64, 11, 100000) < 0.01);
	assert_true(share_kept(base64, 16, 100000) < 0.001);
	assert_true(share_kept(base32, 16, 100000) < 0.001);
	assert_true(share_kept(letters, 16, 100000) < 0.002);
	assert_true(share_kept(letters, 24, 100000) < 0.0005);
	assert_true(share_kept(small, 16, 100000) < 0.005);
	assert_true(share_kept(small, 24, 100000) < 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_kept),
		cmocka_unit_test(names_of_services_lose_their_first_parts),
		cmocka_unit_test(what_is_somebodys_is_not_kept),
		cmocka_unit_test(no_place_of_a_path_lets_data_through),
		cmocka_unit_test(drawn_texts_are_kept_in_one_of_hundreds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
