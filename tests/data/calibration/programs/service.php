<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// A page of PHP, below php-fpm and PHP's own server.
function orders(): array
{
    $orders = [];
    for ($i = 0; $i < 80; $i++)
        $orders[] = ["id" => $i, "name" => "order " . $i * 7919 % 503 . " of customer " . $i % 9, "price" => $i * 1.25];
    return $orders;
}

function render(array $orders): string
{
    $page = "";
    foreach ($orders as $order)
        $page .= sprintf("<tr><td>%d</td><td>%s</td><td>%.2f</td></tr>", $order["id"], htmlspecialchars(ucwords($order["name"])), $order["price"]);
    return $page;
}

function rank(array $orders): string
{
    usort($orders, fn($a, $b) => strcmp($a["name"], $b["name"]) ?: $a["price"] <=> $b["price"]);
    return $orders[0]["name"];
}

function matching(array $orders): string
{
    $found = 0;
    foreach ($orders as $order)
        $found += preg_match('/order (\d+)7 of customer (\d)/', $order["name"]);
    return (string)$found;
}

function parse(string $text): string
{
    $words = [];
    foreach (json_decode($text, true) as $order)
        foreach (explode(" ", $order["name"]) as $word)
            $words[$word] = ($words[$word] ?? 0) + 1;
    return json_encode($words);
}

$orders = orders();
$body = match (parse_url($_SERVER["REQUEST_URI"], PHP_URL_PATH)) {
    "/render" => render($orders),
    "/rank" => rank($orders),
    "/match" => matching($orders),
    default => parse(json_encode($orders)),
};
header("Content-Length: " . strlen($body));
echo $body;
