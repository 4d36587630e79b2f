# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranges of lab.py. `known`: `culprit` is in the range, with `after` commits behind it. `made`: the range ends at `head`; `edit` is a list of
(old, new) for `file`, each place exactly once in all its versions from a commit of the range on that chance chooses, or `at` names."""

PYTHON = "python3 DRIVERS/"
CC = "cc -O2 -g -fno-omit-frame-pointer"

CMAKE = "cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_POLICY_VERSION_MINIMUM=3.5 {} >/dev/null && cmake --build build -j2"

CASES = [
    {"name": "sqlparse-imt", "repository": "andialbrecht/sqlparse", "kind": "known", "culprit": "012c9f1", "after": 30, "commits": 60,
     "run": PYTHON + "sqlparse_format.py"},
    {"name": "sqlparse-matching", "repository": "andialbrecht/sqlparse", "kind": "known", "culprit": "a3e19f1", "after": 20, "commits": 45,
     "run": PYTHON + "sqlparse_long.py"},
    {"name": "cjson-array", "repository": "DaveGamble/cJSON", "kind": "known", "culprit": "3ece4c8", "after": 35, "commits": 75,
     "build": f"{CC} -I. -o driver $DRIVERS/cjson_array.c cJSON.c -lm", "run": "./driver"},
    {"name": "cmark-lists", "repository": "commonmark/cmark", "kind": "known", "culprit": "d51bb0e4", "after": 80, "commits": 150,
     "build": CMAKE.format("-DCMARK_TESTS=OFF -DBUILD_TESTING=OFF"), "run": PYTHON + "markdown_lists.py | build/src/cmark"},
    {"name": "zlib-crc32", "repository": "madler/zlib", "kind": "known", "culprit": "f8719f5", "after": 40, "commits": 70,
     "build": f"{CC} -DHAVE_UNISTD_H -I. -o driver $DRIVERS/zlib_crc.c adler32.c crc32.c deflate.c inf*.c trees.c zutil.c compress.c uncompr.c",
     "run": "./driver"},
    {"name": "yyjson-doubles", "repository": "ibireme/yyjson", "kind": "known", "culprit": "e6d4991", "after": 30, "commits": 90,
     "build": f"{CC} -Isrc -o driver $DRIVERS/yyjson_doubles.c src/yyjson.c", "run": "./driver"},
    {"name": "tinyxml2-print", "repository": "leethomason/tinyxml2", "kind": "known", "culprit": "82e4843", "after": 50, "commits": 110,
     "build": "c++ -O2 -g -fno-omit-frame-pointer -I. -o driver $DRIVERS/tinyxml2_print.cpp tinyxml2.cpp", "run": "./driver"},
    {"name": "pygments-html", "repository": "pygments/pygments", "kind": "known", "culprit": "f7c11a0ff", "after": 20, "commits": 100,
     "run": PYTHON + "pygments_html.py"},
    {"name": "fmt-decimal", "repository": "fmtlib/fmt", "kind": "known", "culprit": "7ad8004d", "after": 60, "commits": 130,
     "build": "c++ -O2 -g -fno-omit-frame-pointer -std=c++17 -Iinclude -o driver $DRIVERS/fmt_decimal.cpp src/format.cc", "run": "./driver"},
    {"name": "expat-partial", "repository": "libexpat/libexpat", "kind": "known", "culprit": "34b598c5", "after": 40, "commits": 120, "paths": ["expat/lib"],
     "build": f"touch expat/lib/expat_config.h; {CC} -DXML_GE=1 -DXML_DTD -DXML_NS -DXML_CONTEXT_BYTES=1024 -DXML_POOR_ENTROPY -Iexpat/lib "
              "-o driver $DRIVERS/expat_partial.c expat/lib/xmlparse.c expat/lib/xmlrole.c expat/lib/xmltok.c", "run": "./driver"},

    {"name": "lua-find", "repository": "lua/lua", "kind": "made", "head": "HEAD", "commits": 400, "file": "lstrlib.c",
     "subject": "Own search for the first character", "edit": [
         ("static const char *lmemfind (", """/* finds a character within 'n' bytes */
static const char *findchar (const char *s, char c, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (s[i] == c)
      return s + i;
  }
  return NULL;
}


static const char *lmemfind ("""),
         ("(init = (const char *)memchr(s1, *s2, l1)) != NULL", "(init = findchar(s1, *s2, l1)) != NULL")],
     "build": f"{CC} -DMAKE_LUA -o driver onelua.c -lm -ldl", "run": "./driver DRIVERS/find.lua"},
    {"name": "lz4-count", "repository": "lz4/lz4", "kind": "made", "head": "HEAD", "commits": 300, "file": "lib/lz4.c",
     "subject": "count in smaller steps, for targets without fast 64-bit reads", "edit": [
         ("if (!diff) { pIn+=STEPSIZE; pMatch+=STEPSIZE; continue; }", "if (!diff) { pIn+=2; pMatch+=2; continue; }")],
     "build": f"{CC} -Ilib -o driver $DRIVERS/lz4_compress.c lib/lz4.c", "run": "./driver"},
    {"name": "json-strings", "repository": "nlohmann/json", "kind": "made", "head": "HEAD", "commits": 250,
     "file": "include/nlohmann/detail/input/lexer.hpp", "subject": "lexer: append to the buffer as a string", "edit": [
         ("token_buffer.push_back(static_cast<typename string_t::value_type>(c));",
          "token_buffer = token_buffer + static_cast<typename string_t::value_type>(c);")],
     "build": "c++ -O2 -g -fno-omit-frame-pointer -std=c++17 -Iinclude -o driver $DRIVERS/json_strings.cpp", "run": "./driver"},
    {"name": "pugixml-escape", "repository": "zeux/pugixml", "kind": "made", "head": "HEAD", "commits": 250, "file": "src/pugixml.cpp",
     "subject": "Write text symbol by symbol", "edit": [
         ("""			writer.write_buffer(prev, static_cast<size_t>(s - prev));

			switch (*s)
			{
				case 0: break;
				case '&':
					writer.write('&', 'a', 'm', 'p', ';');""", """			for (; prev != s; ++prev)
				writer.write_buffer(prev, 1);

			switch (*s)
			{
				case 0: break;
				case '&':
					writer.write('&', 'a', 'm', 'p', ';');""")],
     "build": "c++ -O2 -g -fno-omit-frame-pointer -Isrc -o driver $DRIVERS/pugixml_save.cpp src/pugixml.cpp", "run": "./driver"},
    {"name": "cmark-escape", "repository": "commonmark/cmark", "kind": "made", "head": "HEAD", "commits": 250, "file": "src/houdini_html_e.c",
     "subject": "houdini: put characters one by one", "edit": [
         ("""      cmark_strbuf_put(ob, src + org, i - org);""", """      for (; org < i; org++)
        cmark_strbuf_putc(ob, src[org]);""")],
     "build": CMAKE.format("-DCMARK_TESTS=OFF -DBUILD_TESTING=OFF"), "run": PYTHON + "markdown_text.py | build/src/cmark >/dev/null"},
    {"name": "jinja-operators", "repository": "pallets/jinja", "kind": "made", "head": "HEAD", "commits": 300, "file": "src/jinja2/lexer.py",
     "subject": "look operators up by their names", "edit": [
         ("                token = operators[value_str]\n",
          "                token = next(n for op, n in sorted(operators.items()) if op == value_str)\n")],
     "run": PYTHON + "jinja_lex.py"},
    {"name": "lark-feed", "repository": "lark-parser/lark", "kind": "made", "head": "HEAD", "commits": 45, "file": "lark/parsers/lalr_parser_state.py",
     "subject": "Collect expected tokens up front", "edit": [
         ("            state = state_stack[-1]\n            try:\n",
          "            state = state_stack[-1]\n            accepted = {s for s in states[state].keys() if s.isupper()}\n            try:\n")],
     "run": PYTHON + "lark_json.py"},
    {"name": "miniz-adler", "repository": "richgel999/miniz", "kind": "made", "head": "HEAD", "commits": 20, "file": "miniz.c",
     "subject": "adler32: reduce at once, blocks are not needed", "edit": [
         ("                s1 += *ptr++, s2 += s1;\n            s1 %= 65521U, s2 %= 65521U;",
          "            {\n                s1 = (s1 + *ptr++) % 65521U;\n                s2 = (s2 + s1) % 65521U;\n            }"),
         ("            for (i = 0; i + 7 < block_len; i += 8, ptr += 8)", "            for (i = 0; i + 4096 < block_len; i += 8, ptr += 8)")],
     "build": f"echo '#define MINIZ_EXPORT' >miniz_export.h; {CC} -I. -o driver $DRIVERS/miniz_zlib.c miniz.c miniz_tdef.c miniz_tinfl.c", "run": "./driver"},
    {"name": "redis-sds", "repository": "redis/redis", "kind": "made", "head": "HEAD", "commits": 500, "file": "src/sds.c",
     "subject": "sdscatrepr: one way to append characters", "edit": [
         ("                s = sdscatlen(s, p, 1);\n            else", "                s = sdscatprintf(s, \"%c\", *p);\n            else")],
     "build": "printf '#define REDIS_GIT_SHA1 \"0\"\\n' >src/release.h; "
              f"{CC} -Isrc -DNO_MALLOC_USABLE_SIZE -o driver $DRIVERS/redis_sds.c src/sds.c -x c $DRIVERS/redis_zmalloc.c", "run": "./driver"},
    {"name": "zstd-count", "repository": "facebook/zstd", "kind": "made", "head": "HEAD", "commits": 200,
     "file": "lib/compress/zstd_compress_internal.h", "subject": "compare matches in 32-bit steps", "edit": [
         ("            if (!diff) { pIn+=sizeof(size_t); pMatch+=sizeof(size_t); continue; }",
          "            if (!diff) { pIn+=sizeof(U16); pMatch+=sizeof(U16); continue; }")],
     "build": f"{CC} -DZSTD_DISABLE_ASM=1 -Ilib -o driver $DRIVERS/zstd_compress.c lib/common/*.c lib/compress/*.c", "run": "./driver"},
    {"name": "networkx-dijkstra", "repository": "networkx/networkx", "kind": "made", "head": "HEAD", "commits": 300,
     "file": "networkx/algorithms/shortest_paths/weighted.py", "subject": "ENH: keep the fringe sorted", "edit": [
         ("                heappush(fringe, (vu_dist, next(c), u))\n                if",
          "                fringe.append((vu_dist, next(c), u))\n                fringe.sort()\n                if")],
     "run": PYTHON + "networkx_dijkstra.py"},
    {"name": "tinyxml2-text", "repository": "leethomason/tinyxml2", "kind": "made", "head": "HEAD", "commits": 90, "file": "tinyxml2.cpp",
     "subject": "Compare end tags as a whole", "edit": [
         ("        if ( *p == endChar && strncmp( p, endTag, length ) == 0 ) {", "        if ( strncmp( p, endTag, strlen( endTag ) ) == 0 ) {")],
     "build": "c++ -O2 -g -fno-omit-frame-pointer -I. -o driver $DRIVERS/tinyxml2_print.cpp tinyxml2.cpp", "run": "./driver"},
    {"name": "cjson-numbers", "repository": "DaveGamble/cJSON", "kind": "made", "head": "HEAD", "commits": 55, "file": "cJSON.c",
     "subject": "Print numbers with as few digits as possible", "edit": [
         ("        length = sprintf((char*)number_buffer, \"%1.15g\", d);\n", """        int precision = 1;
        for (precision = 1; precision < 16; precision++)
        {
            length = sprintf((char*)number_buffer, "%.*g", precision, d);
            if ((sscanf((char*)number_buffer, "%lg", &test) == 1) && compare_double((double)test, d))
            {
                break;
            }
        }
""")],
     "build": f"{CC} -I. -o driver $DRIVERS/cjson_numbers.c cJSON.c -lm", "run": "./driver"},
]
