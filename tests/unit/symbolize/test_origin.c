/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/origin.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* The main program is /home/u/shop/build/shop, compiled in /home/u/shop; a project root is /code/api. */

#define USER PROFILE_ORIGIN_USER
#define LIBRARY PROFILE_ORIGIN_LIBRARY
#define SYSTEM PROFILE_ORIGIN_SYSTEM
#define UNKNOWN PROFILE_ORIGIN_UNKNOWN
#define RULE(name) SYMBOLIZE_RULE_##name

static const struct {
	const char *path, *module, *name, *file;
	enum profile_mapping_kind kind;
	enum profile_origin origin;
	enum symbolize_rule rule;
} cases[] = {
	/* kernel */
	{ "[kernel.kallsyms]", "[kernel.kallsyms]", "do_syscall_64", "", PROFILE_MAPPING_KERNEL, SYSTEM, RULE(KERNEL) },
	{ "[kernel.kallsyms]", "[kernel.kallsyms]", "ext4_read [ext4]", "", PROFILE_MAPPING_KERNEL, SYSTEM,
		RULE(KERNEL) },
	{ "[kernel.kallsyms]", "[kernel.kallsyms]", "bpf_prog_12 [bpf]", "", PROFILE_MAPPING_KERNEL, SYSTEM,
		RULE(KERNEL) },
	{ "[vdso]", "[vdso]", "clock_gettime", "", PROFILE_MAPPING_VDSO, SYSTEM, RULE(KERNEL) },
	/* runtimes */
	{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so", "malloc", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so", "malloc", "malloc.c", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/lib/libm.so.6", "libm.so", "sin", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64.so", "_dl_start", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/lib/libpthread.so.0", "libpthread.so", "pthread_mutex_lock", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/lib/libgcc_s.so.1", "libgcc_s.so", "_Unwind_Find_FDE", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/lib/ld-musl-x86_64.so.1", "ld-musl-x86_64.so", "malloc", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/bin/python3.11", "python3.11", "_PyEval_EvalFrameDefault", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/bin/python3", "python3", "PyObject_Call", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/lib/libpython3.11.so.1.0", "libpython3.11.so", "PyDict_GetItem", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/bin/node", "node", "v8::internal::Heap::CollectGarbage", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/bin/java", "java", "main", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/lib/jvm/lib/server/libjvm.so", "libjvm.so", "JVM_Clone", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/lib/jvm/java-17/lib/libjli.so", "libjli.so", "JavaMain", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/sbin/php-fpm8.2", "php-fpm8.2", "execute_ex", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/bin/luajit-2.1.0", "luajit-2.1.0", "lj_vm_call", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/bin/lua5.4", "lua5.4", "luaV_execute", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.1/libcoreclr.so", "libcoreclr.so", "JIT_New", "",
		PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/bin/pypy3", "pypy3", "main", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	/* the C modules that come with interpreters, wherever these are installed */
	{ "/home/u/.pyenv/versions/3.12.1/lib/python3.12/lib-dynload/_json.cpython-312-x86_64-linux-gnu.so",
		"_json.cpython-312-x86_64-linux-gnu.so", "scan_once_unicode",
		"/tmp/python-build/Python-3.12.1/Modules/_json.c", PROFILE_MAPPING_FILE, LIBRARY, RULE(OTHER_SOURCE) },
	{ "/home/u/.rbenv/versions/3.3.0/lib/ruby/3.3.0/x86_64-linux/json/ext/parser.so", "parser.so",
		"JSON_parse_value", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/home/u/perl5/perlbrew/perls/5.38/lib/5.38.0/x86_64-linux/auto/List/Util/Util.so", "Util.so",
		"XS_List__Util_sum", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/home/u/.phpenv/lib/php/extensions/no-debug-non-zts-20220829/phar.so", "phar.so", "phar_open", "",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/home/u/.sdkman/candidates/java/17.0.9-tem/lib/libnio.so", "libnio.so", "Java_sun_nio_ch_NativeThread_init",
		"", PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/usr/bin/perl", "perl", "Perl_runops", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/srv/app", "app", "runtime.mallocgc", "/usr/local/go/src/runtime/malloc.go", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/srv/app", "app", "runtime.mallocgc", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	/* Go with -trimpath */
	{ "/srv/app", "app", "runtime.nextFreeFast", "./runtime/malloc.go", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/srv/app", "app", "encoding/json.Marshal", "./encoding/json/encode.go", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "main.work", "./shop/main.go", PROFILE_MAPPING_FILE, USER,
		RULE(OTHER_SOURCE) },
	/* code made at run time */
	{ "//anon", "//anon", "Builtin:ArrayPush", "", PROFILE_MAPPING_JIT, SYSTEM, RULE(JIT_STUB) },
	{ "//anon", "//anon", "BytecodeHandler:Star", "", PROFILE_MAPPING_JIT, SYSTEM, RULE(JIT_STUB) },
	{ "//anon", "//anon", "Stub:CEntry", "", PROFILE_MAPPING_JIT, SYSTEM, RULE(JIT_STUB) },
	{ "//anon", "//anon", "0x1234", "", PROFILE_MAPPING_JIT, UNKNOWN, RULE(JIT_STUB) },
	{ "//anon", "//anon", "JS:*sum /srv/x.js:1:2", "", PROFILE_MAPPING_JIT, USER, RULE(JIT_STUB) },
	{ "//anon", "//anon", "JS:*sum file:///code/api/x.js:1:2", "", PROFILE_MAPPING_JIT, USER, RULE(PROJECT_ROOT) },
	{ "//anon", "//anon", "JS:~get /code/api/node_modules/q/q.js:1:2", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "//anon", "//anon", "JS:~emit node:events:400:2", "", PROFILE_MAPPING_JIT, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "//anon", "//anon", "JS:~wrapSafe node:internal/modules/cjs/loader:1:2", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "//anon", "//anon", "py::main:/code/api/a.py", "", PROFILE_MAPPING_JIT, USER, RULE(PROJECT_ROOT) },
	{ "//anon", "//anon", "py::loads:/usr/lib/python3.12/json/__init__.py", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "//anon", "//anon", "py::connect:/usr/lib/python3.12/sqlite3/dbapi2.py", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "[jit]", "[jit]", "py::_find_and_load:<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>",
		PROFILE_MAPPING_JIT, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "[jit]", "[jit]", "py::run:/home/u/.pyenv/versions/3.12.1/lib/python3.12/cProfile.py",
		"/home/u/.pyenv/versions/3.12.1/lib/python3.12/cProfile.py", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "[jit]", "[jit]", "py::S.run:/srv/w.py", "/srv/w.py", PROFILE_MAPPING_JIT, USER, RULE(JIT_STUB) },
	{ "[jit]", "[jit]", "py::<module>:<string>", "<string>", PROFILE_MAPPING_JIT, USER, RULE(JIT_STUB) },
	{ "[jit]", "[jit]", "py::concatenate:<__array_function__ internals>", "<__array_function__ internals>",
		PROFILE_MAPPING_JIT, LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "//anon", "//anon", "py::get:/usr/lib/python3/dist-packages/requests/api.py", "", PROFILE_MAPPING_JIT,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "//anon", "//anon", "py::dot:/v/lib/python3.11/site-packages/numpy/x.py", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	/* standard libraries' sources */
	{ "/home/u/shop/build/shop", "shop", "std::sort<int*>", "/usr/include/c++/12/bits/stl_algo.h",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "operator()", "/opt/gcc/include/c++/13/functional", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "std::string::append", "/build/gcc/libstdc++-v3/include/string",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "core::ptr::read", "/rustc/90b35a62/library/core/src/ptr/mod.rs",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "core::iter::next",
		"/root/.rustup/toolchains/x/lib/rustlib/src/rust/library/core/src/iter.rs", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "sort.Ints", "/usr/local/go/src/sort/sort.go", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "fmt.Println", "/usr/lib/go-1.19/src/fmt/print.go", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(STANDARD_SOURCE) },
	/* dependencies' sources */
	{ "/srv/app", "app", "serde::de::x", "/root/.cargo/registry/src/i-1/serde-1.0.0/src/de.rs",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "dep::x", "/root/.cargo/git/checkouts/dep-1/src/lib.rs", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "zap.New", "/root/go/pkg/mod/go.uber.org/zap@v1.2.3/logger.go", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "absl::x", "/home/u/shop/third_party/absl/x.cc", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "fmt::x", "/home/u/shop/build/_deps/fmt-src/x.cc", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "x", "/home/u/shop/vendor/x/x.c", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "x", "/home/u/shop/subprojects/x/x.c", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "x", "/home/u/shop/external/x/x.c", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "htons", "/usr/include/netinet/in.h", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "x", "/usr/src/lib/x.c", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "x", "/home/u/.conan2/p/b/x/x.c", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "x", "/home/u/vcpkg/buildtrees/x/x.c", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "x", "/nix/store/abc-x/x.c", PROFILE_MAPPING_FILE, LIBRARY, RULE(DEPENDENCY_SOURCE) },
	/* the project's own sources */
	{ "/srv/app", "app", "handle", "/code/api/src/handle.c", PROFILE_MAPPING_FILE, USER, RULE(PROJECT_ROOT) },
	{ "/usr/lib/libapi.so", "libapi.so", "handle", "/code/api/src/handle.c", PROFILE_MAPPING_FILE, USER,
		RULE(PROJECT_ROOT) },
	{ "/home/u/shop/build/shop", "shop", "add", "/home/u/shop/basket.cc", PROFILE_MAPPING_FILE, USER,
		RULE(COMPILATION_DIRECTORY) },
	{ "/usr/lib/libshop.so", "libshop.so", "add", "/home/u/shop/basket.cc", PROFILE_MAPPING_FILE, USER,
		RULE(COMPILATION_DIRECTORY) },
	/* sources elsewhere: by the binary */
	{ "/home/u/shop/build/shop", "shop", "add", "/home/u/shopping/basket.cc", PROFILE_MAPPING_FILE, USER,
		RULE(OTHER_SOURCE) },
	{ "/srv/app", "app", "handle", "/code/apinot/handle.c", PROFILE_MAPPING_FILE, UNKNOWN, RULE(NONE) },
	{ "/usr/lib/librados.so.2", "librados.so", "rados_read", "./obj/rados.cc", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(OTHER_SOURCE) },
	/* no debug information */
	{ "/home/u/shop/build/shop", "shop", "add", "", PROFILE_MAPPING_FILE, USER, RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/libplugin.so", "libplugin.so", "run", "", PROFILE_MAPPING_FILE, USER,
		RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/sub/libplugin.so", "libplugin.so", "run", "", PROFILE_MAPPING_FILE, UNKNOWN, RULE(NONE) },
	{ "/usr/lib/x86_64-linux-gnu/libssl.so.3", "libssl.so", "SSL_read", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++.so", "std::string::append", "", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/usr/local/lib/libx.so", "libx.so", "x", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/opt/x/libx.so", "libx.so", "x", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/lib/libz.so.1", "libz.so", "deflate", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/srv/libx.so", "libx.so", "std::sort", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(NAME_PREFIX) },
	{ "/srv/libx.so", "libx.so", "core::fmt::write", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(NAME_PREFIX) },
	{ "/srv/libx.so", "libx.so", "alloc::vec::push", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(NAME_PREFIX) },
	{ "/srv/libx.so", "libx.so", "x", "", PROFILE_MAPPING_FILE, UNKNOWN, RULE(NONE) },
	{ "//anon", "//anon", "//anon+0x12", "", PROFILE_MAPPING_ANON, UNKNOWN, RULE(ANONYMOUS) },
	{ "/memfd:x", "memfd:x", "memfd:x+0x12", "", PROFILE_MAPPING_ANON, UNKNOWN, RULE(ANONYMOUS) },
	/* real programs: C */
	{ "/usr/sbin/nginx", "nginx", "ngx_http_process_request", "", PROFILE_MAPPING_FILE, UNKNOWN, RULE(NONE) },
	{ "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6", "libsqlite3.so", "sqlite3VdbeExec", "", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6", "libsqlite3.so", "sqlite3VdbeExec", "sqlite3.c",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(OTHER_SOURCE) },
	{ "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", "libz.so", "inflate_fast", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "libcrypto.so", "sha256_block_data_order", "",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/libzstd.so.1.5.4", "libzstd.so", "ZSTD_decompressBlock", "", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/libcurl.so.4", "libcurl.so", "curl_easy_perform", "", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/libpq.so.5", "libpq.so", "PQexec", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
	{ "/lib64/libz.so.1", "libz.so", "deflate", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib64/libjemalloc.so.2", "libjemalloc.so", "malloc", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/libtcmalloc.so.4", "libtcmalloc.so", "tc_new", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/libmvec.so.1", "libmvec.so", "_ZGVdN4v_exp", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/lib/x86_64-linux-gnu/librt.so.1", "librt.so", "timer_create", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/lib/x86_64-linux-gnu/libdl.so.2", "libdl.so", "dlopen", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/lib/libunwind.so.8", "libunwind.so", "unw_step", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/lib/libc.musl-x86_64.so.1", "libc.musl-x86_64.so", "memcpy", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so", "__memmove_avx_unaligned_erms",
		"../sysdeps/x86_64/memmove.S", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/home/u/shop/build/shop", "shop", "memcpy@plt", "", PROFILE_MAPPING_FILE, USER, RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/shop", "shop", "main", "/home/u/shop/main.c", PROFILE_MAPPING_FILE, USER,
		RULE(COMPILATION_DIRECTORY) },
	{ "/home/u/shop/build/shop", "shop", "_start", "", PROFILE_MAPPING_FILE, USER, RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/shop", "shop", "shop+0x1200", "", PROFILE_MAPPING_FILE, USER, RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/shop", "shop", "atoi", "/usr/include/stdlib.h", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/opt/oracle/libclntsh.so", "libclntsh.so", "kpuexec", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
	{ "/home/u/.local/lib/libx.so", "libx.so", "x", "", PROFILE_MAPPING_FILE, UNKNOWN, RULE(NONE) },
	/* C++ */
	{ "/home/u/shop/build/shop", "shop", "std::vector<int>::push_back", "/usr/include/c++/12/bits/stl_vector.h",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "__gnu_cxx::new_allocator<int>::allocate",
		"/usr/include/c++/12/ext/new_allocator.h", PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "std::__1::sort", "/usr/lib/llvm-14/include/c++/v1/algorithm",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "std::__1::string::append", "/build/llvm/libcxx/src/string.cpp",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "std::sort<int*>", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(NAME_PREFIX) },
	{ "/home/u/shop/build/shop", "shop", "void std::__introsort_loop<int*, long>(int*, int*, long)", "",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(NAME_PREFIX) },
	{ "/home/u/shop/build/shop", "shop", "std::vector<int> shop::list<int>(int)", "", PROFILE_MAPPING_FILE, USER,
		RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/shop", "shop", "<shop::Cart as core::fmt::Display>::fmt", "", PROFILE_MAPPING_FILE, USER,
		RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/shop", "shop", "<alloc::vec::Vec<T> as shop::Total>::total", "", PROFILE_MAPPING_FILE,
		USER, RULE(MAIN_PROGRAM) },
	{ "/home/u/shop/build/shop", "shop", "<alloc::vec::Vec<shop::Cart> as core::clone::Clone>::clone", "",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(NAME_PREFIX) },
	{ "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++.so", "std::ostream::write",
		"/build/gcc/libstdc++-v3/src/ostream.cc", PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "boost::asio::run", "/usr/include/boost/asio/impl/run.ipp",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "Eigen::dot", "/home/u/shop/external/eigen/Dot.h", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "google::protobuf::Parse", "/home/u/shop/3rdparty/protobuf/parse.cc",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "shop::Basket::add", "/home/u/shop/src/basket.cc", PROFILE_MAPPING_FILE,
		USER, RULE(COMPILATION_DIRECTORY) },
	{ "/home/u/shop/build/shop", "shop", "operator()", "/home/u/shop/src/basket.cc", PROFILE_MAPPING_FILE, USER,
		RULE(COMPILATION_DIRECTORY) },
	{ "/usr/lib/x86_64-linux-gnu/ceph/libceph-common.so.2", "libceph-common.so", "Throttle::get",
		"./src/common/Throttle.cc", PROFILE_MAPPING_FILE, LIBRARY, RULE(OTHER_SOURCE) },
	{ "/usr/lib/x86_64-linux-gnu/ceph/libceph-common.so.2", "libceph-common.so", "std::_Rb_tree::find",
		"/usr/include/c++/12/bits/stl_tree.h", PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	/* Rust */
	{ "/srv/app", "app", "alloc::vec::Vec<T>::push", "/rustc/5980761/library/alloc/src/vec/mod.rs",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "std::io::Write::write_all", "/rustc/5980761/library/std/src/io/mod.rs",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "hashbrown::raw::find",
		"/root/.cargo/registry/src/index.crates.io-6f17/hashbrown-0.14.5/src/raw/mod.rs", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "hashbrown::raw::find", "/rust/deps/hashbrown-0.15.2/src/raw/mod.rs", PROFILE_MAPPING_FILE,
		UNKNOWN, RULE(NONE) },
	{ "/srv/app", "app", "app::main", "/code/api/src/main.rs", PROFILE_MAPPING_FILE, USER, RULE(PROJECT_ROOT) },
	{ "/srv/app", "app", "dep::run", "/code/api/vendor/dep/src/lib.rs", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "<core::iter::Map as core::iter::Iterator>::next", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(NAME_PREFIX) },
	{ "/srv/app", "app", "<T as alloc::string::ToString>::to_string", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(NAME_PREFIX) },
	{ "/srv/app", "app", "std::rt::lang_start", "", PROFILE_MAPPING_FILE, LIBRARY, RULE(NAME_PREFIX) },
	/* Go */
	{ "/srv/app", "app", "runtime.gcDrain", "/usr/local/go/src/runtime/mgcmark.go", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/srv/app", "app", "runtime.memmove", "/usr/lib/go-1.22/src/runtime/memmove_amd64.s", PROFILE_MAPPING_FILE,
		SYSTEM, RULE(RUNTIME) },
	{ "/srv/app", "app", "runtime.findRunnable", "runtime/proc.go", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/srv/app", "app", "internal/runtime/atomic.Xadd", "/usr/local/go/src/internal/runtime/atomic/x.s",
		PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/srv/app", "app", "runtime/internal/sys.Len64", "/usr/local/go/src/runtime/internal/sys/intrinsics.go",
		PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/srv/app", "app", "runtime.work", "/code/api/runtime.go", PROFILE_MAPPING_FILE, USER, RULE(PROJECT_ROOT) },
	{ "/srv/app", "app", "net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "encoding/json.Marshal", "/home/u/sdk/go1.23.1/src/encoding/json/encode.go",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "strings.Fields", "/usr/share/go-1.22/src/strings/strings.go", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(STANDARD_SOURCE) },
	{ "/srv/app", "app", "github.com/gin-gonic/gin.(*Engine).ServeHTTP",
		"/root/go/pkg/mod/github.com/gin-gonic/gin@v1.9.1/gin.go", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "github.com/gin-gonic/gin.(*Engine).ServeHTTP", "github.com/gin-gonic/gin@v1.9.1/gin.go",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "example.com/shop/vendor/x.Do", "/code/api/vendor/x/x.go", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(DEPENDENCY_SOURCE) },
	{ "/srv/app", "app", "main.main", "/code/api/main.go", PROFILE_MAPPING_FILE, USER, RULE(PROJECT_ROOT) },
	{ "/home/u/shop/build/shop", "shop", "main.main", "/src/elsewhere/main.go", PROFILE_MAPPING_FILE, USER,
		RULE(OTHER_SOURCE) },
	{ "/home/u/shop/build/shop", "shop", "type:.eq.main.T", "<autogenerated>", PROFILE_MAPPING_FILE, USER,
		RULE(OTHER_SOURCE) },
	/* Python */
	{ "/usr/bin/python3.12", "python3.12", "_PyEval_EvalFrameDefault", "Python/ceval.c", PROFILE_MAPPING_FILE,
		SYSTEM, RULE(RUNTIME) },
	{ "/root/.pyenv/versions/3.11.4/bin/python3.11", "python3.11", "PyObject_Malloc", "", PROFILE_MAPPING_FILE,
		SYSTEM, RULE(RUNTIME) },
	{ "/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so",
		"_json.cpython-311-x86_64-linux-gnu.so", "scan_once_unicode", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
	{ "/v/lib/python3.11/site-packages/numpy/core/_multiarray_umath.so", "_multiarray_umath.so", "DOUBLE_add", "",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "/root/.pyenv/versions/3.11.4/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so",
		"_json.cpython-311-x86_64-linux-gnu.so", "scan_once_unicode", "/tmp/build/Modules/_json.c",
		PROFILE_MAPPING_FILE, LIBRARY, RULE(OTHER_SOURCE) },
	{ "/srv/app/node_modules/sharp/build/Release/sharp.node", "sharp.node", "vips_resize", "", PROFILE_MAPPING_FILE,
		LIBRARY, RULE(SYSTEM_DIRECTORY) },
	{ "//anon", "//anon", "py::<module>:/code/api/run.py", "", PROFILE_MAPPING_JIT, USER, RULE(PROJECT_ROOT) },
	{ "//anon", "//anon", "py::_find_and_load:<frozen importlib._bootstrap>", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "//anon", "//anon", "py::sleep:/srv/job.py", "", PROFILE_MAPPING_JIT, USER, RULE(JIT_STUB) },
	{ "//anon", "//anon", "py::get:/opt/venv/lib/python3.12/site-packages/httpx/_api.py", "", PROFILE_MAPPING_JIT,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "//anon", "//anon", "py::run:/usr/local/lib/python3.12/asyncio/runners.py", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(STANDARD_SOURCE) },
	/* node */
	{ "/usr/bin/node", "node", "Builtins_InterpreterEntryTrampoline", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/bin/nodejs", "nodejs", "uv__io_poll", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/lib/x86_64-linux-gnu/libnode.so.108", "libnode.so", "v8::internal::Runtime_X", "", PROFILE_MAPPING_FILE,
		SYSTEM, RULE(RUNTIME) },
	{ "//anon", "//anon", "JS:^handle /code/api/server.js:10:5", "", PROFILE_MAPPING_JIT, USER,
		RULE(PROJECT_ROOT) },
	{ "//anon", "//anon", "JS:+handle /home/u/x/server.js:10:5", "", PROFILE_MAPPING_JIT, USER, RULE(JIT_STUB) },
	{ "//anon", "//anon", "JS:*nextTick node:internal/process/task_queues:60:5", "", PROFILE_MAPPING_JIT, LIBRARY,
		RULE(STANDARD_SOURCE) },
	{ "//anon", "//anon", "JS:*parse /srv/app/node_modules/express/lib/router.js:4:1", "", PROFILE_MAPPING_JIT,
		LIBRARY, RULE(DEPENDENCY_SOURCE) },
	{ "//anon", "//anon", "RegExp:^a+$", "", PROFILE_MAPPING_JIT, SYSTEM, RULE(JIT_STUB) },
	{ "//anon", "//anon", "Builtin:KeyedLoadIC", "", PROFILE_MAPPING_JIT, SYSTEM, RULE(JIT_STUB) },
	/* kernel */
	{ "[kernel.kallsyms]", "[kernel.kallsyms]", "[kernel]", "", PROFILE_MAPPING_KERNEL, SYSTEM, RULE(KERNEL) },
	{ "[kernel.kallsyms]", "[kernel.kallsyms]", "copy_user_enhanced_fast_string", "", PROFILE_MAPPING_KERNEL,
		SYSTEM, RULE(KERNEL) },
	{ "[kernel.kallsyms]", "[kernel.kallsyms]", "nvme_queue_rq [nvme]", "", PROFILE_MAPPING_KERNEL, SYSTEM,
		RULE(KERNEL) },
	{ "[kernel.kallsyms]", "[kernel.kallsyms]", "native_queued_spin_lock_slowpath", "", PROFILE_MAPPING_KERNEL,
		SYSTEM, RULE(KERNEL) },
	{ "[vdso]", "[vdso]", "__vdso_gettimeofday", "", PROFILE_MAPPING_VDSO, SYSTEM, RULE(KERNEL) },
	/* other runtimes */
	{ "/usr/bin/ruby3.1", "ruby3.1", "vm_exec", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/lib/libruby-3.1.so.3.1", "libruby-3.1.so", "rb_vm_exec", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/bin/php8.2", "php8.2", "execute_ex", "", PROFILE_MAPPING_FILE, SYSTEM, RULE(RUNTIME) },
	{ "/usr/lib/erlang/erts-13/bin/beam.smp", "beam.smp", "process_main", "", PROFILE_MAPPING_FILE, SYSTEM,
		RULE(RUNTIME) },
	{ "/usr/lib/jvm/java-17/lib/libjava.so", "libjava.so", "Java_java_io_read", "", PROFILE_MAPPING_FILE, LIBRARY,
		RULE(SYSTEM_DIRECTORY) },
};

static struct origin_evidence evidence_of(size_t i)
{
	return (struct origin_evidence){ .name = cases[i].name,
		.module = cases[i].module,
		.file = cases[i].file,
		.path = cases[i].path,
		.kind = cases[i].kind,
		.has_mapping = true };
}

static void decides_by_the_table(void **state)
{
	static const char *const roots[] = { "/code/api/" };
	const struct symbolize_options options = { .project_roots = roots, .project_root_count = 1 };
	const struct origin_context context = {
		.options = &options, .main_path = "/home/u/shop/build/shop", .compilation_directory = "/home/u/shop"
	};

	assert_true(sizeof(cases) / sizeof(cases[0]) >= 150);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct origin_evidence evidence = evidence_of(i);
		struct origin_decision decision = origin_decide(&context, &evidence);

		if (decision.origin != cases[i].origin || decision.rule != cases[i].rule)
			fail_msg("%s in %s (%s): %s by %s", cases[i].name, cases[i].path, cases[i].file,
				profile_origin_name(decision.origin), symbolize_rule_text(decision.rule));
	}
}

/* As a JVM's maps spell them: jcmd Compiler.perfmap of JDK 17, libperf-jvmti.so, perf-map-agent. */
static void code_of_a_jvm_is_told_by_its_class(void **state)
{
	static const struct {
		const char *name;
		enum profile_origin origin;
		enum symbolize_rule rule;
	} expected[] = {
		{ "int Hot.iface(Hot$I[])", USER, RULE(JIT_STUB) },
		{ "int Hot$$Lambda$1/0x00007fbf38000400.f(int)", USER, RULE(JIT_STUB) },
		{ "java.util.List com.acme.Shop.items(java.lang.String)", USER, RULE(JIT_STUB) },
		{ "void javaparser.Run.main(java.lang.String[])", USER, RULE(JIT_STUB) },
		{ "Lcom/acme/Shop;items(Ljava/lang/String;)V", USER, RULE(JIT_STUB) },
		{ "java.lang.Object java.util.HashMap.merge(java.lang.Object, java.lang.Object, java.util.function.BiFunction)",
			LIBRARY, RULE(NAME_PREFIX) },
		{ "void java.lang.String.<init>(byte[], byte)", LIBRARY, RULE(NAME_PREFIX) },
		{ "void jdk.internal.misc.Unsafe.park(boolean, long)", LIBRARY, RULE(NAME_PREFIX) },
		{ "int sun.security.provider.DigestBase.implCompressMultiBlock0(byte[], int, int)", LIBRARY,
			RULE(NAME_PREFIX) },
		{ "void javax.crypto.Cipher.init(int)", LIBRARY, RULE(NAME_PREFIX) },
		{ "scala.Option scala.collection.immutable.HashMap.get(java.lang.Object)", LIBRARY, RULE(NAME_PREFIX) },
		{ "Ljava/util/HashMap;put(Ljava/lang/Object;)V", LIBRARY, RULE(NAME_PREFIX) },
		{ "Ljava/util/HashMap;::put", LIBRARY, RULE(NAME_PREFIX) },
		{ "java/util/HashMap.put", LIBRARY, RULE(NAME_PREFIX) },
		{ "Interpreter", SYSTEM, RULE(JIT_STUB) },
		{ "StubRoutines (2)", SYSTEM, RULE(JIT_STUB) },
		{ "vtable chunks", SYSTEM, RULE(JIT_STUB) },
		{ "I2C/C2I adapters", SYSTEM, RULE(JIT_STUB) },
		{ "call_stub", SYSTEM, RULE(JIT_STUB) },
		{ "flush_icache_stub", SYSTEM, RULE(JIT_STUB) },
		{ "_new_array_Java", SYSTEM, RULE(JIT_STUB) },
		{ "handle_exception_nofpu Runtime1 stub", SYSTEM, RULE(JIT_STUB) },
		{ "NullPointerException at call throw_exception", SYSTEM, RULE(JIT_STUB) },
		{ "UncommonTrapBlob", SYSTEM, RULE(JIT_STUB) },
		/* another runtime in the same recording */
		{ "py::main:/code/api/a.py", USER, RULE(JIT_STUB) },
		{ "JS:*sum /srv/x.js:1:2", USER, RULE(JIT_STUB) },
	};
	const struct symbolize_options options = { 0 };
	const struct origin_context context = {
		.options = &options, .main_path = "/usr/bin/java", .compilation_directory = "", .has_jvm = true
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct origin_evidence evidence = { .name = expected[i].name,
			.module = "[jit]",
			.file = "",
			.path = "[jit]",
			.kind = PROFILE_MAPPING_JIT,
			.has_mapping = true };
		struct origin_decision decision = origin_decide(&context, &evidence);

		if (decision.origin != expected[i].origin || decision.rule != expected[i].rule)
			fail_msg("%s: %s by %s", expected[i].name, profile_origin_name(decision.origin),
				symbolize_rule_text(decision.rule));
	}
}

static void any_program_of_a_recording_is_the_users(void **state)
{
	const struct symbolize_options options = { 0 };
	const struct origin_context context = {
		.options = &options, .main_path = "/home/u/shop/build/shop", .compilation_directory = ""
	};
	struct origin_evidence evidence = { .name = "x",
		.module = "sqlite3",
		.file = "",
		.path = "/usr/bin/sqlite3",
		.has_mapping = true,
		.is_program = true };

	assert_int_equal(origin_decide(&context, &evidence).rule, SYMBOLIZE_RULE_MAIN_PROGRAM);
	assert_int_equal(origin_decide(&context, &evidence).origin, PROFILE_ORIGIN_USER);
	evidence.is_program = false;
	assert_int_equal(origin_decide(&context, &evidence).origin, PROFILE_ORIGIN_UNKNOWN);
}

static void a_compilation_directory_of_everything_says_nothing(void **state)
{
	const struct symbolize_options options = { 0 };
	const struct origin_context context = { .options = &options, .main_path = "", .compilation_directory = "/" };
	const struct origin_evidence evidence = {
		.name = "x", .module = "x", .file = "/srv/x.c", .path = "/srv/x", .has_mapping = true
	};

	assert_int_equal(origin_decide(&context, &evidence).rule, SYMBOLIZE_RULE_NONE);
}

static void the_users_rules_come_first(void **state)
{
	static const char text[] = "# ours\n"
				   "user module libc*\n"
				   "\n"
				   "library function *::detail::*\n"
				   "  system path /srv/platform/* \n"
				   "unknown function two words*\n";
	static const struct {
		const char *name, *module, *path;
		enum profile_origin origin;
		enum symbolize_rule rule;
	} expected[] = {
		{ "malloc", "libc.so", "/lib/libc.so.6", USER, RULE(USER_RULE) },
		{ "a::detail::b", "x", "/srv/x", LIBRARY, RULE(USER_RULE) },
		{ "a", "x", "/srv/platform/x", SYSTEM, RULE(USER_RULE) },
		{ "two words and more", "x", "/srv/x", UNKNOWN, RULE(USER_RULE) },
		{ "a", "x", "/srv/x", UNKNOWN, RULE(NONE) },
	};
	struct symbolize_rules *rules;
	struct symbolize_options options = { 0 };
	struct origin_context context = { .options = &options, .main_path = "", .compilation_directory = "" };
	struct error err;

	assert_true(symbolize_rules_parse(SYMBOLIZE_RULES_OF_ORIGIN, text, sizeof(text) - 1, "rules", &rules, &err));
	options.origin_rules = rules;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct origin_evidence evidence = { .name = expected[i].name,
			.module = expected[i].module,
			.file = "",
			.path = expected[i].path,
			.has_mapping = true };
		struct origin_decision decision = origin_decide(&context, &evidence);

		assert_int_equal(decision.origin, expected[i].origin);
		assert_int_equal(decision.rule, expected[i].rule);
	}
	symbolize_rules_destroy(rules);
}

static void what_a_recording_carries_gives_way_to_rules_and_roots_alone(void **state)
{
	static const char text[] = "library function shop::*\n";
	static const char *const roots[] = { "/code/api" };
	static const struct {
		const char *name, *file;
		struct origin_decision before, after;
	} expected[] = {
		{ "shop::pay", "/tmp/pay.c", { USER, RULE(OTHER_SOURCE) }, { LIBRARY, RULE(USER_RULE) } },
		{ "route", "/code/api/route.c", { LIBRARY, RULE(OTHER_SOURCE) }, { USER, RULE(PROJECT_ROOT) } },
		{ "route", "/code/api/vendor/route.c", { LIBRARY, RULE(DEPENDENCY_SOURCE) },
			{ LIBRARY, RULE(DEPENDENCY_SOURCE) } },
		{ "main", "/tmp/main.c", { USER, RULE(COMPILATION_DIRECTORY) }, { USER, RULE(COMPILATION_DIRECTORY) } },
	};
	struct symbolize_rules *rules;
	struct symbolize_options options = { .project_roots = roots, .project_root_count = 1 };
	const struct origin_context context = { .options = &options, .main_path = "", .compilation_directory = "" };
	struct error err;

	assert_true(symbolize_rules_parse(SYMBOLIZE_RULES_OF_ORIGIN, text, sizeof(text) - 1, "rules", &rules, &err));
	options.origin_rules = rules;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct origin_evidence evidence = { .name = expected[i].name,
			.module = "",
			.file = expected[i].file,
			.path = "/srv/shop",
			.has_mapping = true };
		struct origin_decision after = origin_revise(&context, &evidence, expected[i].before);

		assert_int_equal(after.origin, expected[i].after.origin);
		assert_int_equal(after.rule, expected[i].after.rule);
	}
	symbolize_rules_destroy(rules);
}

/* A rule for everything is about functions. A function of a binary may have any name. */
static void the_frame_of_a_wait_is_no_function(void **state)
{
	static const char text[] = "library function *\n";
	const struct origin_evidence frame = { .name = "[waiting: lock]", .module = "", .file = "", .path = "" };
	struct origin_evidence function = frame;
	struct symbolize_rules *rules;
	struct symbolize_options options = { 0 };
	const struct origin_context context = { .options = &options, .main_path = "", .compilation_directory = "" };
	struct origin_decision decision;
	struct error err;

	assert_true(symbolize_rules_parse(SYMBOLIZE_RULES_OF_ORIGIN, text, sizeof(text) - 1, "rules", &rules, &err));
	options.origin_rules = rules;
	decision = origin_decide(&context, &frame);
	assert_int_equal(decision.origin, SYSTEM);
	assert_int_equal(decision.rule, RULE(WAIT));
	decision = origin_revise(&context, &frame, decision);
	assert_int_equal(decision.rule, RULE(WAIT));
	function.module = "server";
	function.has_mapping = true;
	assert_int_equal(origin_decide(&context, &function).origin, LIBRARY);
	symbolize_rules_destroy(rules);
}

static void wrong_rules_name_their_line(void **state)
{
	static const char *const wrong[] = { "user path /a\nours path /b\n", "user path /a\nuser file /b",
		"user path /a\nuser path", "user path /a\nuser" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct symbolize_rules *rules;
		struct error err;

		assert_false(symbolize_rules_parse(
			SYMBOLIZE_RULES_OF_ORIGIN, wrong[i], strlen(wrong[i]), "rules", &rules, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_non_null(strstr(err.message, "rules line 2"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decides_by_the_table),
		cmocka_unit_test(code_of_a_jvm_is_told_by_its_class),
		cmocka_unit_test(any_program_of_a_recording_is_the_users),
		cmocka_unit_test(a_compilation_directory_of_everything_says_nothing),
		cmocka_unit_test(the_users_rules_come_first),
		cmocka_unit_test(what_a_recording_carries_gives_way_to_rules_and_roots_alone),
		cmocka_unit_test(the_frame_of_a_wait_is_no_function),
		cmocka_unit_test(wrong_rules_name_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
