/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/sha1.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 80 };

static uint32_t sha1_rotate(uint32_t value, unsigned int bits)
{
	return value << bits | value >> (32 - bits);
}

static uint32_t sha1_choose(unsigned int round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round / 20) {
	case 0:
		return (b & c) | (~b & d);
	case 2:
		return (b & c) | (b & d) | (c & d);
	}
	return b ^ c ^ d;
}

static void sha1_add_block(uint32_t state[5], const uint8_t *block)
{
	static const uint32_t constants[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t words[ROUNDS], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (unsigned int i = 0; i < 16; i++) {
		memcpy(&words[i], block + (size_t)i * 4, sizeof(*words));
		words[i] = __builtin_bswap32(words[i]);
	}
	for (unsigned int i = 16; i < ROUNDS; i++)
		words[i] = sha1_rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t next = sha1_rotate(a, 5) + sha1_choose(i, b, c, d) + e + constants[i / 20] + words[i];

		e = d;
		d = c;
		c = sha1_rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

uint32_t sha1_start(const void *bytes, size_t size)
{
	uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	uint8_t last[2 * BLOCK] = { 0 };
	uint64_t bits = __builtin_bswap64((uint64_t)size * 8);
	const uint8_t *at = bytes;
	size_t left = size, blocks;

	for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
		sha1_add_block(state, at);
	memcpy(last, at, left);
	last[left] = 0x80;
	blocks = left + 1 + sizeof(bits) > BLOCK ? 2 : 1;
	memcpy(last + blocks * BLOCK - sizeof(bits), &bits, sizeof(bits));
	for (size_t i = 0; i < blocks; i++)
		sha1_add_block(state, last + i * BLOCK);
	return state[0];
}
