/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#define CURL_DISABLE_TYPECHECK /* its macros are for a library that is linked */
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

/* The functions of libcurl, which is loaded on request: it brings TLS, and whatever its builder gave it. */
struct curl_library {
	void *library; /* owned */
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
	CURLcode (*easy_perform)(CURL *handle);
	CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
	void (*easy_reset)(CURL *handle);
	void (*easy_cleanup)(CURL *handle);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

/*
 * Loads and initialises it; it stays until the process ends, as it may have registered functions for that. Call it
 * while the process has one thread. ERROR_UNSUPPORTED: there is none, or this program is static.
 */
COMMON_MUST_CHECK
bool curl_library_load(struct curl_library *curl, struct error *err);
