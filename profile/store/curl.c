/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/curl.h"

#include <dlfcn.h>
#include <string.h>

static bool find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	/* ISO C does not cast data pointers to functions; POSIX gives both one representation. */
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static bool find_all(struct curl_library *curl)
{
	void *library = curl->library;

	return find(library, "curl_global_init", &curl->global_init) &&
	       find(library, "curl_easy_init", &curl->easy_init) &&
	       find(library, "curl_easy_setopt", &curl->easy_setopt) &&
	       find(library, "curl_easy_perform", &curl->easy_perform) &&
	       find(library, "curl_easy_getinfo", &curl->easy_getinfo) &&
	       find(library, "curl_easy_reset", &curl->easy_reset) &&
	       find(library, "curl_easy_cleanup", &curl->easy_cleanup) &&
	       find(library, "curl_easy_strerror", &curl->easy_strerror) &&
	       find(library, "curl_slist_append", &curl->slist_append) &&
	       find(library, "curl_slist_free_all", &curl->slist_free_all);
}

bool curl_library_load(struct curl_library *curl, struct error *err)
{
	/* Debian's, with OpenSSL and with GnuTLS; others have the first name for theirs. */
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*curl = (struct curl_library){ .library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL) };
		if (!curl->library)
			continue;
		if (find_all(curl) && curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
			return true;
		dlclose(curl->library);
	}
	return error_set(err, ERROR_UNSUPPORTED,
		"a store is spoken to through libcurl.so.4, which cannot be loaded; on Debian: sudo apt install libcurl4. A static build of Kelvin loads no libraries");
}
