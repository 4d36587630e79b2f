// SPDX-License-Identifier: GPL-3.0-or-later
// Reads lines of text, counts, matches and sorts: Batch FOLDER.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

public final class Batch {
    private static Map<String, Integer> count(List<String> lines) {
        Map<String, Integer> counts = new HashMap<>();
        for (String line : lines) {
            for (String word : line.split(" ")) {
                counts.merge(word, 1, Integer::sum);
            }
        }
        return counts;
    }

    private static long match(List<String> lines) {
        Pattern pattern = Pattern.compile("\\b([a-f]+)\\w* (\\w*[aeiou]{2}\\w*)");
        return lines.stream().filter(line -> pattern.matcher(line).find()).count();
    }

    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int last = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int next = Math.min(last + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1), Math.min(row[j], row[j - 1]) + 1);
                last = row[j];
                row[j] = next;
            }
        }
        return row[b.length()];
    }

    public static void main(String[] arguments) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(arguments[0], "text")).subList(0, 200000);
        int near = 0;
        for (int i = 1; i < 60000; i++) {
            near += distance(lines.get(i), lines.get(i - 1)) < 30 ? 1 : 0;
        }
        List<String> sorted = new ArrayList<>(lines);
        Collections.sort(sorted);
        System.out.println(count(lines).size() + " " + match(lines) + " " + near + " " + sorted.get(0));
    }
}
