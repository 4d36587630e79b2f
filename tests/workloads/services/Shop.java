// SPDX-License-Identifier: GPL-3.0-or-later
// A service of the JDK's own server: Shop PORT. CHANGE names what its next release does in another way.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

public final class Shop {
    private static final String CHANGE = System.getenv().getOrDefault("CHANGE", "");
    private static final Pattern SKU = Pattern.compile("^(sku|art)-([0-9]{1,6})(-[a-z]+)?$");
    private static final String[] SKUS = new String[1500];
    private static final List<byte[]> CACHE = Collections.synchronizedList(new ArrayList<>());
    private static final AtomicLong REQUESTS = new AtomicLong();
    private static final Object STOCK = new Object();
    private static FileChannel count;
    private static volatile int next;

    private static String dedupe() {
        Collection<String> seen = CHANGE.equals("list") ? new ArrayList<>() : new HashSet<>();
        for (String sku : SKUS) {
            if (!seen.contains(sku)) {
                seen.add(sku);
            }
        }
        return "" + seen.size();
    }

    /** Leaves garbage, and puts young objects in the place of old ones. */
    private static String render() {
        long sum = 0;
        byte[][] cells = new byte[1000][];
        for (int i = 0; i < 1000; i++) {
            cells[i] = new byte[64 + i % 16];
            sum += cells[i].length;
            if (i % 4 == 0) {
                next = (next * 1103515245 + 12345) & 0x7fffffff;
                CACHE.set(next % CACHE.size(), cells[i]);
            }
        }
        return "" + sum;
    }

    private static String line(int i) {
        if (CHANGE.equals("format")) {
            return String.format("%06d;%s;%.2f%n", i, SKUS[i], i * 1.25);
        }
        return i + ";" + SKUS[i] + ";" + i * 125 / 100 + "\n";
    }

    private static String report() {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 150; i++) {
            out.append(line(i));
        }
        return out.toString();
    }

    private static boolean isSku(String text) {
        Pattern pattern = CHANGE.equals("pattern") ? Pattern.compile(SKU.pattern()) : SKU;
        return pattern.matcher(text).matches();
    }

    private static String check() {
        int good = 0;
        for (String sku : SKUS) {
            good += isSku(sku) ? 1 : 0;
        }
        return "" + good;
    }

    private static String average() {
        List<Integer> prices = CHANGE.equals("linked") ? new LinkedList<>() : new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            prices.add(i);
        }
        long sum = 0;
        for (int i = 0; i < prices.size(); i++) {
            sum += prices.get(i);
        }
        return "" + sum;
    }

    private static String reserve() throws InterruptedException {
        if (!CHANGE.equals("lock")) {
            Thread.sleep(4);
            return "reserved";
        }
        synchronized (STOCK) {
            Thread.sleep(4);
        }
        return "reserved";
    }

    private static String answer(String path) throws InterruptedException {
        switch (path) {
        case "/dedupe":
            return dedupe();
        case "/render":
            return render();
        case "/report":
            return report();
        case "/check":
            return check();
        case "/average":
            return average();
        default:
            return reserve();
        }
    }

    private static void handle(HttpExchange exchange) throws IOException {
        byte[] line = (REQUESTS.incrementAndGet() + "\n").getBytes();
        count.write(ByteBuffer.wrap(line), 0);
        try {
            byte[] body = answer(exchange.getRequestURI().getPath()).getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        count = FileChannel.open(Path.of(System.getenv("SERVICE_COUNTS"), "" + ProcessHandle.current().pid()),
            StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        for (int i = 0; i < SKUS.length; i++) {
            SKUS[i] = "sku-" + i * 7919 % 100000;
        }
        int megabytes = Integer.parseInt(System.getenv().getOrDefault("CACHE_MB", "1"));
        for (int i = 0; i < megabytes * 10000; i++) {
            CACHE.add(new byte[64]);
        }
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        HttpServer server = HttpServer.create(new InetSocketAddress(loopback, Integer.parseInt(arguments[0])), 64);
        server.createContext("/", Shop::handle);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }
}
