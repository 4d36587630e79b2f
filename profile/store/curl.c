/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/curl.h"

#include <dlfcn.h>
#include <string.h>

static bool curl_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	/* ISO C does not cast data pointers to functions; POSIX gives both one representation. */
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static bool curl_find_all(struct curl_library *curl)
{
	void *library = curl->library;

	return curl_find(library, "curl_global_init", &curl->global_init) &&
	       curl_find(library, "curl_easy_init", &curl->easy_init) &&
	       curl_find(library, "curl_easy_setopt", &curl->easy_setopt) &&
	       curl_find(library, "curl_easy_perform", &curl->easy_perform) &&
	       curl_find(library, "curl_easy_getinfo", &curl->easy_getinfo) &&
	       curl_find(library, "curl_easy_reset", &curl->easy_reset) &&
	       curl_find(library, "curl_easy_cleanup", &curl->easy_cleanup) &&
	       curl_find(library, "curl_easy_strerror", &curl->easy_strerror) &&
	       curl_find(library, "curl_slist_append", &curl->slist_append) &&
	       curl_find(library, "curl_slist_free_all", &curl->slist_free_all);
}

bool curl_library_load(struct curl_library *curl, struct error *err)
{
	/* Debian's, with OpenSSL and with GnuTLS; others have the first name for theirs. */
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*curl = (struct curl_library){ .library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL) };
		if (!curl->library)
			continue;
		if (curl_find_all(curl) && curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
			return true;
		dlclose(curl->library);
	}
	return error_set(err, ERROR_UNSUPPORTED,
		"a store is spoken to through libcurl.so.4, which cannot be loaded; on Debian: sudo apt install libcurl4. A static build of Kelvin loads no libraries");
}
