/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/store.h"

/*
 * Puts "***" in the place of secrets in a text of a server or a proxy, which repeats what it was sent: of each part of
 * the token or the password that has CONCEAL_LEAST bytes, and of a shorter secret as a whole, in every form in which
 * programs that speak HTTP write text: as it is, with %XX, escapes of JSON or references of HTML, also twice over, and
 * in Base64, as Authorization has user and password; each of these also in hexadecimal. A server that means to show a
 * secret can write it otherwise.
 *
 * `text` becomes no longer. Where there is no memory to look with, nothing of it is left.
 */
enum { CONCEAL_LEAST = 8 };
void conceal_secrets(const struct store_secrets *secrets, char *text);
