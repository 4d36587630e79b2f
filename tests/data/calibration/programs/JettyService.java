// SPDX-License-Identifier: GPL-3.0-or-later
// A service of Jetty: JettyService PORT.
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.AbstractHandler;

public final class JettyService extends AbstractHandler {
    private record Order(int id, String name, double price) {
    }

    private static final List<Order> ORDERS = new ArrayList<>();
    private static final Pattern PATTERN = Pattern.compile("order (\\d+)7 of customer (\\d)");

    private static String list() {
        StringBuilder out = new StringBuilder();
        for (Order order : ORDERS) {
            out.append("{\"id\":").append(order.id).append(",\"name\":\"").append(order.name).append("\",\"price\":").append(order.price).append("},");
        }
        return out.toString();
    }

    private static String words() {
        Map<String, Integer> counts = new TreeMap<>();
        for (Order order : ORDERS) {
            for (String word : order.name.split(" ")) {
                counts.merge(word, 1, Integer::sum);
            }
        }
        return counts.toString();
    }

    private static String sorted() {
        return ORDERS.stream().sorted(Comparator.comparing(Order::name).thenComparing(Order::price)).map(Order::name)
            .collect(Collectors.joining(","));
    }

    private static String matching() {
        int found = 0;
        for (Order order : ORDERS) {
            Matcher matcher = PATTERN.matcher(order.name);
            found += matcher.find() ? 1 : 0;
        }
        return "" + found;
    }

    @Override
    public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response) throws IOException {
        String body = switch (target) {
            case "/list" -> list();
            case "/words" -> words();
            case "/sorted" -> sorted();
            default -> matching();
        };
        response.setStatus(200);
        response.getWriter().print(body);
        base.setHandled(true);
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 200; i++) {
            ORDERS.add(new Order(i, "order " + i * 7919 % 503 + " of customer " + i % 9, i * 1.25));
        }
        Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
        server.setHandler(new JettyService());
        server.start();
        server.join();
    }
}
