#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A server in Java: its compiler takes whole parts of a program into one method, in code of ten thousands of bytes without frame pointers.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs java
needs javac
cat >Server.java <<'END'
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

public class Server {
	static String body() {
		Map<String, Integer> counts = new TreeMap<>();
		StringBuilder text = new StringBuilder();

		for (int i = 0; i < 200; i++)
			counts.merge("key" + i * 31 % 97, i, Integer::sum);
		for (Map.Entry<String, Integer> entry : counts.entrySet())
			text.append(entry.getKey()).append('=').append(entry.getValue()).append('\n');
		return text.toString();
	}

	static void handle(HttpExchange exchange) throws IOException {
		byte[] bytes = body().getBytes(StandardCharsets.UTF_8);

		exchange.sendResponseHeaders(200, bytes.length);
		exchange.getResponseBody().write(bytes);
		exchange.close();
	}

	/* Each request by a connection of its own. */
	static void load(int port) {
		byte[] request = "GET / HTTP/1.0\r\nHost: here\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
		byte[] answer = new byte[4096];

		for (;;) {
			try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
				InputStream in = socket.getInputStream();

				socket.getOutputStream().write(request);
				while (in.read(answer) > 0) {
				}
			} catch (IOException e) {
				Thread.yield();
			}
		}
	}

	public static void main(String[] arguments) throws Exception {
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);

		server.createContext("/", Server::handle);
		server.start();
		for (int i = 0; i < 4; i++)
			new Thread(() -> load(server.getAddress().getPort())).start();
	}
}
END
javac Server.java || fail "Server.java does not compile"
for options in -XX:-PreserveFramePointer -XX:+PreserveFramePointer; do
	start java "$options" Server
	# The compiler takes a while until it has done most of the program, longer on a busy machine.
	for ((end = SECONDS + 50; SECONDS < end;)); do
		record_enough 1000 -p "$pid" -o java.pb.gz
		whole=$(sed -n 's/.* \([0-9]*\)[.0-9]* % whole stacks/\1/p' stderr)
		begun=$(share java.pb.gz '(start_thread|libc[.]so[.]6[+]0x[0-9a-f]+);.*(JavaThread::thread_main_inner|GangWorker|WorkerThread|libjvm[.]so[+]0x)')
		[[ $whole -lt 99 || $begun -lt 96 || $(share java.pb.gz compiler_thread_loop) -gt 10 ]] || break
	done
	at_least "$whole" 99 "whole stacks of a server in Java with $options"
	at_least "$begun" 96 "share of stacks that a thread of the JVM leads to, with $options"
	kill -KILL "$pid"
done
