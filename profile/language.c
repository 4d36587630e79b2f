/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"
#include "profile/native_name.h"

#include <string.h>

#define COLLECTION [PROFILE_ACTIVITY_COLLECTION]
#define COMPILATION [PROFILE_ACTIVITY_COMPILATION]
#define SCRIPTS [PROFILE_ACTIVITY_SCRIPTS]

const struct profile_language_row profile_languages[PROFILE_LANGUAGE_COUNT] = {
	/* C, C++ and Rust; of packages those of any language that is compiled to machine code */
	[PROFILE_LANGUAGE_NATIVE] = {
		.name = "native",
		.modules = GLOBS("ld-linux*.so", "ld-musl*.so", "ld.so", "libc.so", "libc.musl*", "libm.so",
			"libmvec.so", "libpthread.so", "librt.so", "libdl.so", "libgcc_s.so", "libunwind.so"),
		.append_shown = profile_native_shown,
		.append_package = profile_native_package,
		.standard_sources = GLOBS("*/include/c++/*", "*/libstdc++-v3/*", "*/libcxx/*", "/rustc/*/library/*",
			"*/rustlib/src/rust/library/*"),
		/* Of an implementation of Rust both the type and the trait, or what stands for any type. */
		.standard_names = GLOBS("std::*", "core::*", "alloc::*", "__gnu_cxx::*", "<core::* as core::*",
			"<core::* as alloc::*", "<core::* as std::*", "<alloc::* as core::*", "<alloc::* as alloc::*",
			"<alloc::* as std::*", "<std::* as core::*", "<std::* as alloc::*", "<std::* as std::*",
			"<T as core::*", "<T as alloc::*", "<I as core::*", "<F as core::*", "<&* as core::*",
			"<[*] as core::*", "<[*] as alloc::*", "<str as core::*", "<str as alloc::*",
			"<u8 as core::*", "<u32 as core::*", "<u64 as core::*", "<usize as core::*", "<i32 as core::*",
			"<i64 as core::*"),
		.packages = GLOBS("/nix/store/*"),
		.dependency_sources = GLOBS("*/.cargo/registry/*", "*/.cargo/git/*", "*/vendor/*", "*/third_party/*",
			"*/3rdparty/*", "*/external/*", "*/_deps/*", "*/subprojects/*", "*/.conan*/*", "*/vcpkg/*",
			"/usr/include/*", "/usr/src/*"),
	},
	[PROFILE_LANGUAGE_PYTHON] = {
		.name = "python",
		.functions = "Python functions",
		.next_step = "start it with 'python3 -X perf' (Python 3.12 or newer)",
		.modules = GLOBS("python", "python[0-9]*", "libpython*.so", "pypy", "pypy[0-9]*", "libpypy*.so"),
		.loops = GLOBS("_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx"),
		.is_loop_unique = true,
		.operations = GLOBS("*"),
		/* Python/pythonrun.c, Parser/pegen.c and peg_api.c, before 3.9 parsetok.c; Python/compile.c */
		.activities = { SCRIPTS = { .functions = GLOBS("Py_CompileString*", "_PyParser_ASTFrom*",
			"PyParser_ASTFrom*", "PyParser_Parse*", "_PyPegen_run_parser*", "PyPegen_ASTFrom*",
			"_PyAST_Compile", "PyAST_Compile*") } },
		.variation = PROFILE_VARIATION_INTERPRETED,
		.read_name = profile_python_name,
		.gone = PROFILE_PYTHON_GONE,
		.standard_sources = GLOBS("*/lib/python[23].*", "<frozen *"),
		.has_packages_within = true,
		.packages = GLOBS("*/site-packages/*", "*/dist-packages/*"),
		/* what packages make while the program runs: numpy, decorator, attrs */
		.dependency_sources = GLOBS("<__array_function__ internals>", "<decorator-gen-*",
			"<attrs generated *"),
		.compiled_packages = GLOBS("*/lib/python[23].*/*"),
		.options_with_value = GLOBS("-X", "-W"),
	},
	/* V8 in node */
	[PROFILE_LANGUAGE_JAVASCRIPT] = {
		.name = "javascript",
		.functions = "JavaScript functions",
		.beside = "WebAssembly functions",
		.next_step = "start it with 'node --perf-basic-prof'",
		.modules = GLOBS("node", "node[0-9]*", "nodejs", "libnode.so"),
		.loops = GLOBS("Builtins_JSEntry", "Builtins_InterpreterEntryTrampoline"),
		.is_loop_unique = true,
		.makes_code = true,
		/*
		 * What V8 has built in for what a function does before it is optimized, when it becomes part of the
		 * function's own code: the handlers of bytecodes, the entry to them, and caches of how properties were
		 * found.
		 */
		.operations = GLOBS("Builtins_*Handler", "Builtins_InterpreterEntryTrampoline*",
			"Builtins_InterpreterPushArgs*", "Builtins_Baseline*", "Builtins_*_Baseline*",
			"Builtins_*WithFeedback*", "Builtins_LoadIC*", "Builtins_KeyedLoadIC*", "Builtins_LoadGlobalIC*",
			"Builtins_StoreIC*", "Builtins_KeyedStoreIC*", "Builtins_StoreGlobalIC*",
			"Builtins_DefineNamedOwnIC*", "Builtins_DefineKeyedOwnIC*", "Builtins_KeyedHasIC*",
			"Builtins_CloneObjectIC*"),
		.activities = {
			/* src/heap, in the program's threads and in those of V8's platform */
			COLLECTION = { .functions = GLOBS("v8::internal::Heap::CollectGarbage*",
				"v8::internal::Heap::CollectAllGarbage*", "v8::internal::Scavenger*",
				"v8::internal::ConcurrentMarking::*", "v8::internal::IncrementalMarking*",
				"v8::internal::MarkCompactCollector::*", "v8::internal::MinorMark*",
				"v8::internal::Sweeper::*", "v8::internal::ArrayBufferSweeper::*",
				"v8::internal::PageEvacuationJob::*", "v8::internal::PointersUpdatingJob::*",
				"v8::internal::ScavengeJob::*", "cppgc::internal::Sweeper*",
				"cppgc::internal::*Marker*") },
			/* src/compiler-dispatcher, src/codegen, src/baseline, src/maglev */
			COMPILATION = { .functions = GLOBS("v8::internal::OptimizingCompileDispatcher::*",
				"v8::internal::OptimizedCompilationJob::*",
				"v8::internal::Compiler::CompileOptimized*",
				"v8::internal::Runtime_CompileOptimized*", "v8::internal::baseline::*",
				"v8::internal::maglev::*") },
		},
		.variation = PROFILE_VARIATION_V8,
		.read_name = profile_javascript_name,
		.stubs = GLOBS("Builtin:*", "Stub:*", "BytecodeHandler:*", "RegExp:*", "Bytecode*", "JSC-*Thunk: *",
			"JSC-InlineCache: *"),
		.standard_sources = GLOBS("node:*"),
		.has_packages_within = true,
		.packages = GLOBS("*/node_modules/*"),
		.options_with_value = GLOBS("-r"),
	},
	/* HotSpot, and as far as it is like it OpenJ9 */
	[PROFILE_LANGUAGE_JAVA] = {
		.name = "java",
		.functions = "Java methods",
		.next_step = "run 'jcmd PID Compiler.perfmap' (JDK 17 or newer) just before the recording ends, or record it to its end with "
			     "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
		.modules = GLOBS("java", "libjvm.so", "libj9*.so", "libjli.so"),
		.makes_code = true,
		/* Beside its VM thread, threads of its own do all of it: compileBroker.cpp, and share/gc of each collector. */
		.activities = {
			COLLECTION = { GLOBS("VM_G1*", "VM_GenCollect*", "VM_ParallelGC*", "VM_CollectFor*"),
				GLOBS("GC Thread*", "G1 Main Marker", "G1 Conc#*", "G1 Refine#*", "G1 Service",
					"ParGC Thread*", "ZDriver*", "ZDirector*", "ZWorker*", "Shenandoah*") },
			COMPILATION = { GLOBS("CompileBroker::compiler_thread_loop*"),
				GLOBS("C1 CompilerThre*", "C2 CompilerThre*", "JVMCI*Compiler*") },
		},
		.variation = PROFILE_VARIATION_HOTSPOT,
		.append_shown = profile_java_shown,
		.append_package = profile_java_package,
		.stubs = GLOBS("Interpreter*", "I2C/C2I adapters*", "StubRoutines (*", "vtable chunks", "vtable stub*",
			"itable stub*", "MethodHandles adapters*", "*Runtime1 stub", "call_stub"),
		/* the JDK's, then those of Scala, Kotlin, Groovy and Clojure */
		.standard_packages = GLOBS("java.", "javax.", "jdk.", "sun.", "com.sun.", "org.w3c.dom.",
			"org.xml.sax.", "org.ietf.jgss.", "netscape.javascript.", "scala.", "kotlin.", "kotlinx.",
			"groovy.", "clojure."),
		.compiled_packages = GLOBS("*/jvm/*", "*/jdk*/lib/*", "*/jre*/lib/*", "*/java/*/lib/*"),
		.options_with_value = GLOBS("-cp", "-classpath", "--class-path"),
	},
	[PROFILE_LANGUAGE_KERNEL] = { .name = "kernel", .append_shown = profile_native_shown },
	[PROFILE_LANGUAGE_RUBY] = {
		.name = "ruby",
		.functions = "Ruby methods",
		.next_step = "record it as root, or with the capabilities that 'kelvin doctor' names (Ruby 3.0 to 3.4)",
		.modules = GLOBS("ruby", "ruby[0-9]*", "libruby*.so"),
		.loops = GLOBS("rb_vm_exec", "vm_exec"),
		.makes_code = true,
		.operations = GLOBS("*"),
		.variation = PROFILE_VARIATION_INTERPRETED,
		.read_name = profile_ruby_name,
		.gone = PROFILE_RUBY_GONE,
		.standard_sources = GLOBS("<internal:*", "*/lib/ruby/[0-9]*"),
		.has_packages_within = true,
		.packages = GLOBS("*/gems/*", "*/vendor_ruby/*", "*/site_ruby/*", "*/rubygems-integration/*"),
		.compiled_packages = GLOBS("*/gems/*", "*/lib/ruby/*"),
		.options_with_value = GLOBS("-I", "-r"),
	},
	[PROFILE_LANGUAGE_GO] = {
		.name = "go",
		/* runtime/mgc.go, mgcmark.go, mgcsweep.go, mgcscavenge.go */
		.activities = { COLLECTION = { .functions = GLOBS("runtime.gcBgMarkWorker*", "runtime.gcAssistAlloc*",
			"runtime.gcStart*", "runtime.bgsweep*", "runtime.bgscavenge*") } },
		.variation = PROFILE_VARIATION_GO,
		.standard_sources = GLOBS("/usr/local/go/src/*", "/usr/lib/go*/src/*", "*/go/src/runtime/*",
			"*/sdk/go[0-9]*/src/*", "/usr/share/go*/src/*",
			/* with -trimpath: by its packages */
			"./archive/*.go", "./bufio/*.go", "./bytes/*.go", "./cmp/*.go", "./compress/*.go", "./container/*.go", "./context/*.go", "./crypto/*.go", "./database/*.go", "./debug/*.go", "./embed/*.go", "./encoding/*.go", "./errors/*.go", "./expvar/*.go", "./flag/*.go", "./fmt/*.go", "./go/*.go", "./hash/*.go", "./html/*.go", "./image/*.go", "./index/*.go", "./internal/*.go", "./io/*.go", "./iter/*.go", "./log/*.go", "./maps/*.go", "./math/*.go", "./mime/*.go", "./net/*.go", "./os/*.go", "./path/*.go", "./plugin/*.go", "./reflect/*.go", "./regexp/*.go", "./slices/*.go", "./sort/*.go", "./strconv/*.go", "./strings/*.go", "./sync/*.go", "./syscall/*.go", "./text/*.go", "./time/*.go", "./unicode/*.go", "./unique/*.go", "./vendor/*.go"),
		.dependency_sources = GLOBS("*/pkg/mod/*@v*", "*@v[0-9]*/*"),
	},
	[PROFILE_LANGUAGE_PHP] = {
		.name = "php",
		.functions = "PHP functions",
		.next_step = "record it as root, or with the capabilities that 'kelvin doctor' names (PHP 7.4 to 8.5 without threads)",
		.modules = GLOBS("php", "php[0-9]*", "php-fpm*", "php-cgi*", "libphp*.so", "opcache.so"),
		.loops = GLOBS("execute_ex"),
		.makes_code = true,
		.operations = GLOBS("*"),
		/* Zend/zend_language_scanner.l, Zend/Optimizer and ext/opcache, which fills its memory */
		.activities = { SCRIPTS = { .functions = GLOBS("compile_file", "compile_string",
			"zend_compile_string_to_ast", "zendparse", "zend_optimize_script", "opcache_compile_file",
			"cache_script_in_shared_memory", "zend_accel_script_persist") } },
		.variation = PROFILE_VARIATION_INTERPRETED,
		.read_name = profile_php_name,
		.gone = PROFILE_PHP_GONE,
		.standard_sources = GLOBS(PROFILE_PHP_INTERNAL_FILE),
		.has_packages_within = true,
		.packages = GLOBS("*/vendor/*", "/usr/share/php*/*"),
		.compiled_packages = GLOBS("*/lib/php/*"),
		.options_with_value = GLOBS("-d", "-r"),
	},
	[PROFILE_LANGUAGE_PERL] = {
		.name = "perl",
		.functions = "Perl subroutines",
		.next_step = "Perl names them to no sampling profiler; Devel::NYTProf measures them",
		.modules = GLOBS("perl", "perl5*", "libperl.so"),
		.loops = GLOBS("Perl_runops_standard", "Perl_runops_debug"),
		.is_loop_unique = true,
		.compiled_packages = GLOBS("*/lib/perl5/*", "*/auto/*.so"),
		.options_with_value = GLOBS("-I"),
	},
	[PROFILE_LANGUAGE_LUA] = {
		.name = "lua",
		.functions = "Lua functions",
		.next_step = "Lua names them to no sampling profiler",
		.modules = GLOBS("lua", "lua[0-9]*", "luajit*", "liblua[0-9]*.so", "libluajit*.so"),
		.loops = GLOBS("luaV_execute"),
		.is_loop_unique = true,
	},
	[PROFILE_LANGUAGE_DOTNET] = {
		.name = "dotnet",
		.functions = ".NET methods",
		.next_step = "start it with DOTNET_PerfMapEnabled=1 in its environment",
		.modules = GLOBS("libcoreclr.so"),
		.makes_code = true,
	},
	[PROFILE_LANGUAGE_ERLANG] = {
		.name = "erlang",
		.functions = "Erlang functions",
		.next_step = "start it with 'erl +JPperf true', or with ERL_FLAGS=\"+JPperf true\" in its environment",
		.modules = GLOBS("beam.smp"),
		.makes_code = true,
	},
	/* code made at run time by anything else */
	[PROFILE_LANGUAGE_UNKNOWN] = {
		.name = "unknown",
		.functions = "functions made at run time",
		.next_step = "'man kelvin-record' says which runtimes name theirs, and how",
		.variation = PROFILE_VARIATION_UNKNOWN,
	},
};

enum profile_language profile_language_of_module(const char *module)
{
	for (int i = PROFILE_LANGUAGE_NATIVE + 1; i < PROFILE_LANGUAGE_COUNT; i++)
		if (glob_matches_any(profile_languages[i].modules, module))
			return (enum profile_language)i;
	return PROFILE_LANGUAGE_NATIVE;
}

bool profile_is_runtime(const char *module)
{
	return glob_matches_any(profile_languages[PROFILE_LANGUAGE_NATIVE].modules, module) ||
	       profile_language_of_module(module) != PROFILE_LANGUAGE_NATIVE;
}

bool profile_is_made_at_run_time(const char *module)
{
	return strcmp(module, PROFILE_JIT_MODULE) == 0 || strcmp(module, "//anon") == 0;
}

enum profile_language profile_language_of_gone(const char *name)
{
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if (profile_languages[i].gone && strcmp(name, profile_languages[i].gone) == 0)
			return (enum profile_language)i;
	return PROFILE_LANGUAGE_NATIVE;
}

enum profile_language profile_language_of(const char *name, const char *module)
{
	struct profile_script_name parts;
	enum profile_language language;

	if (strncmp(module, "[kernel", 7) == 0)
		return PROFILE_LANGUAGE_KERNEL;
	language = profile_script_name(name, &parts);
	if (language != PROFILE_LANGUAGE_NATIVE || !profile_is_made_at_run_time(module))
		return language;
	language = profile_language_of_gone(name);
	return language == PROFILE_LANGUAGE_NATIVE && profile_java_is_method(name) ? PROFILE_LANGUAGE_JAVA : language;
}

enum profile_language profile_language_interpreted_by(const char *name, const char *module)
{
	enum profile_language language = profile_language_of_module(module);

	return glob_matches_any(profile_languages[language].operations, name) ? language : PROFILE_LANGUAGE_NATIVE;
}

bool profile_is_generated_stub(const char *name)
{
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if (glob_matches_any(profile_languages[i].stubs, name))
			return true;
	return false;
}

bool profile_is_standard_name(const char *name)
{
	const char *bare = profile_native_without_result(name);

	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		if (glob_matches_any(profile_languages[i].standard_names, bare))
			return true;
	return profile_java_is_standard(name);
}
