<%-- SPDX-License-Identifier: GPL-3.0-or-later --%>
<%@ page import="java.util.*" %>
<%
List<String> names = new ArrayList<>();
for (int i = 0; i < 120; i++) names.add("order " + i * 7919 % 503 + " of customer " + i % 9);
Collections.sort(names);
Map<String, Integer> words = new HashMap<>();
for (String name : names) for (String word : name.split(" ")) words.merge(word, 1, Integer::sum);
%>
<table>
<% for (String name : names) { %><tr><td><%= name.toUpperCase() %></td><td><%= String.format("%05d", name.length()) %></td></tr><% } %>
</table><%= words.size() %>
