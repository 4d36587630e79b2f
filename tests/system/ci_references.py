#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ci_references.py found FILE.md: what GitHub or GitLab would make of the text of a comment: prints each reference, link and picture, and fails
when there is one. ci_references.py samples: prints an example of each rule, one a line. ci_references.py hostile: prints them in all the
disguises that Markdown and HTML know. ci_references.py check: each rule finds its examples.

Both hosts render Markdown first, and look for references in the text nodes of the result that are in neither <code>, <pre> nor <a>. So does this:
cmark-gfm, GitHub's own renderer, with the extensions that GitHub has, and then the rules below over those nodes."""
import re
import subprocess
import sys
from html.parser import HTMLParser

GITHUB = "https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls"
GITHUB_BASIC = "https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax"
GITHUB_CUSTOM = "https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/managing-repository-settings/configuring-autolinks-to-reference-external-resources"
GITHUB_ADVISORY = "https://docs.github.com/en/code-security/concepts/vulnerability-reporting-and-management/about-the-github-advisory-database"
GITLAB = "https://docs.gitlab.com/user/markdown/#gitlab-specific-references"
GITLAB_URLS = "https://docs.gitlab.com/user/markdown/#url-auto-linking"
GITLAB_JIRA = "https://docs.gitlab.com/integration/jira/issues/"

# Source, what it starts, a pattern that takes no less than the host does, examples. A word boundary that a host asks for is not asked for here.
# A milestone may be called anything without a space: but none is called by a name that begins with a zero-width space.
RULES = [
    (GITHUB, "issue", r"#\d", ["#12", "a/b#12", "fixes #1#2", "##12"]),
    (GITHUB, "issue", r"(?i)gh-\d", ["GH-12", "gh-12"]),
    (GITHUB, "commit", r"[0-9a-fA-F]{7}", ["a5c3785", "a5c3785ed8d6a35868bc169f07e40e889087fd2e", "1234567"]),
    (GITHUB, "commit of a user", r"[A-Za-z0-9]@[0-9a-f]{4}", ["jlord@a5c3785ed8d6", "jlord/sheetsee.js@a5c3785ed8d6"]),
    (GITHUB, "address", r"[A-Za-z]://", ["https://github.com/o/n/issues/1", "http://a.example/x", "ftp://a.example"]),
    (GITHUB, "address", r"(?i)www\.[a-z0-9]", ["www.evil.example", "WwW.evil.example"]),
    (GITHUB_BASIC, "mention", r"@[A-Za-z0-9_]", ["@user", "@org/team", "(@user)", "@@user", "x@user"]),
    (GITHUB_BASIC, "address of mail", r"@[A-Za-z0-9_-]+\.", ["mailto:a@b.example", "a@b.example"]),
    (GITHUB_CUSTOM, "autolink of a repository, with its usual form", r"[A-Za-z0-9_]-\d", ["TICKET-123", "ticket-7", "A_B-3"]),
    (GITHUB_ADVISORY, "advisory", r"(?i)(ghsa|cve)-[a-z0-9]", ["GHSA-jfh8-c2jp-5v3q", "CVE-2021-44228"]),
    (GITLAB, "user, group or project", r"@[A-Za-z0-9_.]", ["@all", "@group/sub"]),
    (GITLAB, "project", r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+>", ["namespace/project>"]),
    (GITLAB, "issue or epic", r"#\d", ["#123+s", "project#123"]),
    (GITLAB, "merge request", r"!\d", ["!5", "namespace/project!123"]),
    (GITLAB, "snippet", r"\$\d", ["$5", "project$123"]),
    (GITLAB, "epic", r"&\d", ["&5", "group1/subgroup&123"]),
    (GITLAB, "iteration", r"(?i)\*iteration:", ['*iteration:"title"', "*iteration:5", "**iteration:5"]),
    (GITLAB, "wiki page", r"\[\[", ["[[Home]]", "[[How to|how-to]]"]),
    (GITLAB, "cadence, vulnerability, flag, work item, contact", r"\[[A-Za-z_-]+:",
     ["[cadence:123]", '[cadence:"plan a"]', "[vulnerability:1]", "[vulnerability:a/b/1]", "[feature_flag:1]", "[work_item:1]", "[contact:a@b.example]"]),
    (GITLAB, "label", r'~[A-Za-z0-9_"?.&-]', ["~123", "~bug", '~"feature request"', "~a::b", "~_x"]),
    (GITLAB, "milestone", r'%(?!\u200b)(?:"[^"]+"|[^"\s<]+\b)', ["%123", "%v1.23", '%"release candidate"', "%{project_path}", "%(x"]),
    (GITLAB, "commits", r"[0-9a-fA-F]{7}", ["9ba12248...b19a04f5", "namespace/project@9ba12248", "ABCDEF0"]),
    (GITLAB, "alert", r"\^alert#\d", ["^alert#123", "project^alert#123"]),
    (GITLAB_URLS, "address", r"[A-Za-z]:/", ["irc://irc.example/x", "smb://a/b"]),
    (GITLAB_JIRA, "issue of Jira", r"[A-Z][A-Z0-9_]*-\d", ["PROJECT-1"]),
]


# What may make a sanitizer take text for code that the renderer does not, or the other way round: before and after the example.
AROUND = [
    ("", ""), ("`", "`"), ("`<code>`", "`</code>`"), ("\\<code>", "\\</code>"), ("\\\\<code>", "</code>"), ("<code>|", "</code>|"), ("a`</code> ", " <code>`"),
    ("| a | b |\n|--|--|\n| <code>", "|</code> |"), ("| a | b |\n|--|--|\n| <code>x | ", "</code> |"), ("<code>", "`</code>"), ("<code>", ""),
    ("~~~ ", ""), ("~~~\n", "\n~~~"), ("```\n", "\n```"), ("``` ", ""), ("$<code>", "</code>$"), ("[a<code>](//b) ", "</code>"), ("<code>", "</code>](//b)"),
    ("<details>\n<code>", "</details>"), ("<details>\n\\<code>", "</code></details>"), ("<code>a</code>", "<code>b</code>"), ("<code></code>", ""),
    ("<!-- ", " -->"), ("<code ", "></code>"), ("<CODE>", "</CODE>"), ("<code><b>", "</b></code>"), ("<code>x</code", "></code>"), ("</code>", "<code>"),
    ("&lt;code>", "</code>"), ("<pre>", "</pre>"), ("<a>", "</a>"), ("<sub></sub>", ""), ("<br>", "<br>"), ("\u200b", ""), ("**", "**"), ("_", "_"), ("~~", "~~"),
    ("> ", ""), ("- ", ""), ("# ", ""), ("1. ", ""), ("- [ ] ", ""), ("    ", ""), ("\t", ""), ("[x]: ", ""), ("[^x]: ", ""), ("[", "]"), ("[[", "]]"), ("![", "](x)"), ("(", ")"),
]
NAMED = {"#": "num", "@": "commat", "!": "excl", "%": "percnt", "$": "dollar", "&": "amp", "^": "Hat", "*": "ast", "[": "lsqb", "]": "rsqb", "/": "sol",
         ":": "colon", ".": "period", '"': "quot", "_": "lowbar"}
# How a character may be written: as it is, as an entity of any kind, behind a backslash.
SPELLINGS = [
    lambda c: c if c.isalnum() else f"&#{ord(c)};", lambda c: f"&#{ord(c)};", lambda c: f"&#0{ord(c)};", lambda c: f"&#x{ord(c):x};", lambda c: f"&#X{ord(c):X};",
    lambda c: f"&{NAMED[c]};" if c in NAMED else c, lambda c: f"&#{ord(c)}" if c in NAMED else c, lambda c: "\\" + c if c in NAMED else c,
    lambda c: "&amp;" + f"#{ord(c)};", lambda c: c + "<b></b>" if c in NAMED else c,
]


def hostile():
    for before, after in AROUND:
        yield from (before + sample + after for sample in ("@user", "a/b#12", "a5c3785", "!5 ~x", "https://a.example", "a@b.example", "[[Home]]"))
    for *_, samples in RULES:
        yield from ("".join(map(spelling, sample)) for spelling in SPELLINGS for sample in samples)


class Texts(HTMLParser):
    """Text outside of code, one piece for what lies between two tags, and the tags that load or lead somewhere."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.texts, self.tags, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("br", "hr", "input", "img"):
            self.open.append(tag)
        if tag in ("a", "img", "input", "script", "iframe", "form"):
            self.tags.append(f"<{tag}> {dict(attributes)}")

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"code", "pre", "a"} & set(self.open):
            self.texts.append(data)


def render(markdown):
    extensions = [argument for name in ("table", "strikethrough", "autolink", "tagfilter", "footnotes", "tasklist") for argument in ("-e", name)]
    html = subprocess.run(["cmark-gfm", "--unsafe", *extensions], input=markdown, capture_output=True, check=True).stdout.decode()
    texts = Texts()
    texts.feed(html)
    texts.close()
    return texts


def references(texts):
    return [f"{name}: {match[0]!r} in {text.strip()!r} ({source})" for source, name, pattern, _ in RULES for text in texts for match in re.finditer(pattern, text)]


def commands(markdown):
    """GitLab executes them before it renders: https://docs.gitlab.com/user/project/quick_actions/"""
    return [f"command: {line}" for line in markdown.decode().split("\n") if re.match(r"\s*/[a-z]", line)]


def main(what, *paths):
    if what == "samples":
        print("\n".join(sample for *_, samples in RULES for sample in samples))
        return 0
    if what == "hostile":
        print("\n\n".join(hostile()))
        return 0
    if what == "check":
        # What the renderer makes a link of by itself is as good as found.
        missed = []
        for _, name, pattern, samples in RULES:
            rendered = [(sample, render(sample.encode())) for sample in samples]
            missed += [f"{name}: {sample}" for sample, texts in rendered if not texts.tags and not re.search(pattern, "".join(texts.texts))]
        print("\n".join(missed))
        return 1 if missed else 0
    with open(paths[0], "rb") as file:
        markdown = file.read()
    texts = render(markdown)
    found = texts.tags + references(texts.texts) + commands(markdown)
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main(*sys.argv[1:]))
