/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static void deploys_are_told(void **state)
{
	static const struct {
		struct watch_build before, now;
		const char *words; /* NULL: no deploy */
	} cases[] = {
		{ { "a1", "41", "" }, { "a1", "41", "" }, NULL },
		{ { "a1", "41", "" }, { "b2", "41", "" }, "build a1 → b2" },
		{ { "a1", "41", "" }, { "b2", "42", "" }, "version 41 → 42" },
		/* An interpreter stays the same program. */
		{ { "a1", "41", "x" }, { "a1", "42", "x" }, "version 41 → 42" },
		{ { "a1", "", "0123456789abcdef" }, { "a1", "", "fedcba9876543210" },
			"image 0123456789ab → fedcba987654" },
		/* What one of them does not know differs from nothing. */
		{ { "a1", "", "" }, { "", "42", "x" }, NULL },
		{ { "", "", "" }, { "a1", "42", "x" }, NULL },
		{ { "a1", "", "x" }, { "b2", "42", "x" }, "build a1 → b2" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(buffer_deinit) struct buffer words = { 0 };

		buffer_init(&words, 1 << 10);
		watch_deploy_words(&cases[i].before, &cases[i].now, &words);
		assert_int_equal(watch_is_deploy(&cases[i].before, &cases[i].now), cases[i].words != NULL);
		assert_string_equal(words.data ? words.data : "", cases[i].words ? cases[i].words : "");
	}
}

static void what_is_not_known_is_carried(void **state)
{
	const struct watch_build before = { "a1", "41", "x" };
	struct watch_build now = { "", "42", "" };

	watch_build_carry(&before, &now);
	assert_string_equal(now.build_id, "a1");
	assert_string_equal(now.version, "42");
	assert_string_equal(now.image, "x");
}

/* ---- Images ---- */

#define LINE(point, layers)                                                                                            \
	"612 500 0:52 / " point " rw,relatime master:1 - overlay overlay rw,lowerdir=" layers                          \
	",upperdir=/v/9/u,workdir=/v/9/w\n"
#define OTHERS                                                                                                         \
	"613 612 0:55 / /proc rw,nosuid - proc proc rw\n614 612 0:56 / /dev rw - tmpfs tmpfs rw,size=65536k,mode=755\n"

static const char kubernetes[] = "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-aa.scope\n";
static const char docker[] = "0::/system.slice/docker-aa.scope\n";

static bool same_image(const char *a, const char *cgroup_a, const char *b, const char *cgroup_b)
{
	char first[WATCH_WORD_BYTES], second[WATCH_WORD_BYTES];

	watch_image_of(a, cgroup_a, first);
	watch_image_of(b, cgroup_b, second);
	return first[0] && strcmp(first, second) == 0;
}

static void containers_of_one_image_have_one_name(void **state)
{
	assert_true(same_image(LINE("/", "/s/3/fs:/s/2/fs") OTHERS, kubernetes,
		OTHERS "7 1 0:99 / / rw - overlay overlay rw,lowerdir=/s/3/fs:/s/2/fs,upperdir=/s/77/fs\n",
		kubernetes));
	assert_false(same_image(LINE("/", "/s/3/fs:/s/2/fs"), kubernetes, LINE("/", "/s/4/fs:/s/2/fs"), kubernetes));
	/* The uppermost one is the container's own. */
	assert_true(same_image(LINE("/", "l/INIT1:l/B:l/A"), docker, LINE("/", "l/INIT2:l/B:l/A"), docker));
	assert_false(same_image(LINE("/", "l/INIT1:l/B:l/A"), docker, LINE("/", "l/INIT1:l/C:l/A"), docker));
	assert_true(same_image(LINE("/", "l/I:l/A"), "4:cpu:/docker/aa\n", LINE("/", "l/J:l/A"), "4:cpu:/docker/bb\n"));
}

static void other_roots_have_none(void **state)
{
	static const char *const texts[] = { "", "\n", "1", OTHERS, LINE("/data", "/s/3/fs"),
		"612 500 0:52 / / rw - ext4 /dev/sda1 rw,lowerdir=/x\n", "612 500 0:52 / / rw - overlay overlay\n",
		"612 500 0:52 / / rw - overlay overlay rw,upperdir=/x\n", "612 500 0:52 / / rw - overlay ",
		"612 500 0:52 /", "612 500 0:52 / / rw - overlay overlay lowerdir=",
		"612 500 0:52 / /data rw - overlay overlay rw,lowerdir=/ / - overlay overlay lowerdir=/x\n" };
	char image[WATCH_WORD_BYTES];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		watch_image_of(texts[i], "", image);
		assert_string_equal(image, "");
	}
}

/* ---- Attributes ---- */

static void attributes_are_found(void **state)
{
	static const char *const cases[][2] = {
		{ "service.version=42", "42" },
		{ "service.name=shop,service.version=4.2%2C1,x=y", "4.2,1" },
		{ " service.version= 42 , a=b", "42" },
		{ "service.version.x=1,service.version=2", "2" },
		{ "xservice.version=1", "" },
		{ "service.version=", "" },
		{ "service.version=%", "%" },
		{ "service.version=%4", "%4" },
		{ "service.version=%00", "" },
		{ "service.version=a%0Ab", "" },
		{ "service.version", "" },
		{ ",,,", "" },
		{ "", "" },
	};
	char value[WATCH_WORD_BYTES], longer[2 * WATCH_WORD_BYTES] = "service.version=";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(watch_attribute(cases[i][0], "service.version", value), cases[i][1][0] != '\0');
		assert_string_equal(value, cases[i][1]);
	}
	memset(longer + strlen(longer), 'x', WATCH_WORD_BYTES);
	assert_false(watch_attribute(longer, "service.version", value));
}

static void environments_are_read(void **state)
{
	static const char bytes[] = "PATH=/bin\0OTEL_RESOURCE_ATTRIBUTES=service.name=a,service.version=7\0"
				    "OTEL_SERVICE_NAME=shop\0SECRET=x";
	struct watch_environment environment;

	watch_read_environment(bytes, sizeof(bytes), &environment);
	assert_string_equal(environment.service, "shop");
	assert_string_equal(environment.version, "7");
	/* Whatever is cut off counts as not there. */
	for (size_t size = 0; size < sizeof(bytes); size++) {
		char *copy = malloc(size + 1);

		memcpy(copy, bytes, size);
		watch_read_environment(copy, size, &environment);
		assert_true(environment.version[0] == '\0' || strcmp(environment.version, "7") == 0);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deploys_are_told),
		cmocka_unit_test(what_is_not_known_is_carried),
		cmocka_unit_test(containers_of_one_image_have_one_name),
		cmocka_unit_test(other_roots_have_none),
		cmocka_unit_test(attributes_are_found),
		cmocka_unit_test(environments_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
