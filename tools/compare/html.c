// SPDX-License-Identifier: MIT
#include "html.h"

#include <math.h>
#include <string.h>

void html_print(FILE *page, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
    for (; *text; text++) {
        const char *found = strchr(special, *text);
        if (found)
            fputs(names[found - special], page);
        else
            putc(*text, page);
    }
}

// --- tables -----------------------------------------------------------------------------

void html_print_element(FILE *file, const char *name, const char *text)
{
    fprintf(file, "<%s>", name);
    html_print(file, text);
    fprintf(file, "</%s>\n", name);
}

// Four digits, as a spread is seldom smaller; the whole value is what is sorted by.
void html_print_number(FILE *file, double value, const char *class)
{
    if (!isfinite(value)) {
        fputs("<td></td>", file);
        return;
    }
    const double size = fabs(value);
    const int before = size > 0 ? (int)floor(log10(size)) + 1 : 1;
    const bool is_whole = value == floor(value) && size < 1e15;
    fprintf(file, "<td%s data-value=\"%.9g\">", class, value);
    if (is_whole || (size >= 1e-3 && size < 1e6))
        fprintf(file, "%.*f", is_whole || before > 4 ? 0 : 4 - before, value);
    else
        fprintf(file, "%.2e", value);
    fputs("</td>", file);
}

void html_print_cell(FILE *file, const char *text, const char *class)
{
    fprintf(file, "<td class=\"%s\">", class);
    html_print(file, text);
    fputs("</td>", file);
}

void html_begin_table(FILE *file, const char *about, const char *what)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", file);
    html_print(file, about);
    fputs(": ", file);
    html_print(file, what);
    fputs("\"><table><thead><tr>", file);
}

void html_print_head(FILE *file, const char *text, bool is_text)
{
    fprintf(file, "<th scope=\"col\"%s><button type=\"button\">",
            is_text ? " class=\"text\"" : "");
    html_print(file, text);
    fputs("</button></th>", file);
}

void html_begin_body(FILE *file)
{
    fputs("</tr></thead><tbody>\n", file);
}

void html_end_table(FILE *file)
{
    fputs("</tbody></table></div>\n", file);
}

// --- what every page has ---------------------------------------------------------------

// clang-format off
const char html_style[] =
    ":root{--ground:#fff;--ink:#1d2329;--soft:#5b6670;--line:#d7dce1;--band:#f4f6f8;--best:#e3f1e8;--link:#005a9c}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ground:#14181c;--ink:#e6e9ec;--soft:#a3adb6;--line:#39424b;"
    "--band:#1c2227;--best:#1d3a2b;--link:#7cc0ff}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:62rem;background:var(--ground);color:var(--ink);"
    "font:1rem/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}\n"
    "h2{font-size:1.3rem;line-height:1.25;margin:2.5rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}\n"
    "h3{font-size:1.05rem;margin:1.5rem 0 .25rem}\n"
    "p,li{max-width:46rem}\n"
    "ul{padding-left:1.2rem;margin:.25rem 0}\n"
    "li{margin:.35rem 0}\n"
    "a{color:var(--link)}\n"
    "nav ul{columns:18rem;list-style:none;padding:0}\n"
    "nav li{margin:0;padding:.15rem 0;break-inside:avoid}\n"
    "figure{margin:1rem 0}\n"
    "figure svg{display:block;width:100%;height:auto;color:var(--ink)}\n"
    "figcaption,.note{color:var(--soft);font-size:.875rem;max-width:46rem}\n"
    ".narrow{display:none}\n"
    "@media screen and (max-width:40rem){.wide{display:none}.narrow{display:block}}\n"
    ".scroll{overflow-x:auto;margin:.5rem 0}\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th{background:var(--band);vertical-align:bottom}\n"
    "th:first-child,td:first-child,.text{text-align:left}\n"
    "td.long{white-space:normal;min-width:16rem;text-align:left}\n"
    "th button{all:unset;cursor:pointer;font-weight:600}\n"
    "th button:focus-visible{outline:2px solid var(--link)}\n"
    "th[aria-sort] button::after{content:' \\25B4'}\n"
    "th[aria-sort=descending] button::after{content:' \\25BE'}\n"
    "td.best{background:var(--best);font-weight:600}\n"
    "summary{cursor:pointer;padding:.35rem 0;color:var(--link)}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}"
    "nav{display:none}.scroll{overflow:visible}table{font-size:7pt}th,td{padding:.1rem .25rem}}\n";

// Each table sorts by its columns: numbers by value, the rest by letters; what is empty comes
// last. A second click turns the order round.
const char html_script[] =
    "'use strict';\n"
    "for (const button of document.querySelectorAll('th button')) {\n"
    "  button.addEventListener('click', () => {\n"
    "    const head = button.parentElement, row = head.parentElement;\n"
    "    const column = Array.from(row.children).indexOf(head);\n"
    "    const down = head.getAttribute('aria-sort') === 'ascending';\n"
    "    const key = (line) => {\n"
    "      const cell = line.children[column];\n"
    "      const text = cell.dataset.value ?? cell.textContent.trim();\n"
    "      const number = Number(text);\n"
    "      return text === '' ? null : Number.isNaN(number) ? text : number;\n"
    "    };\n"
    "    const order = (a, b) => {\n"
    "      const x = key(a), y = key(b);\n"
    "      if (x === null || y === null) return (x === null) - (y === null);\n"
    "      const sign = typeof x === 'number' && typeof y === 'number' ? x - y\n"
    "        : String(x).localeCompare(String(y));\n"
    "      return down ? -sign : sign;\n"
    "    };\n"
    "    const body = row.closest('table').tBodies[0];\n"
    "    body.append(...Array.from(body.rows).sort(order));\n"
    "    for (const other of row.children) other.removeAttribute('aria-sort');\n"
    "    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "  });\n"
    "}\n";
// clang-format on
