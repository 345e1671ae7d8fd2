// SPDX-License-Identifier: MIT
// kallima-gen plain|fma OUTFILE: writes the CPU engine's codelets as a C header.
#include <stdio.h>
#include <string.h>

#include "codelet/lengths.h"
#include "emit/emit.h"

enum { NAME_BYTES = 64, PATH_BYTES = 4096 };

static const char *const flavour_names[KAL_FLAVOUR_COUNT] = {
    [KAL_PLAIN] = "plain",
    [KAL_FMA] = "fma",
};

static kallima_status add_codelet(struct kal_text *text, enum kal_flavour flavour, int n,
                                  bool twiddled)
{
    const struct kal_codelet_spec spec = kal_length_spec(n, flavour, twiddled);
    struct kal_codelet codelet;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "CODELET%s(%d)", twiddled ? "_TWIDDLE" : "", n);
    const kallima_status status = kal_codelet_build(&codelet, NULL, &spec);
    if (status == KALLIMA_OK) {
        kal_text_add(text, "\n");
        kal_emit_codelet(text, kal_dialect_find("c"), &codelet, false, name);
    }
    kal_codelet_clear(&codelet);
    return status ? status : text->status;
}

static kallima_status write_header(struct kal_text *text, enum kal_flavour flavour)
{
    int count;
    const struct kal_length *length = kal_lengths_get(&count);

    kal_text_add(
        text,
        "// Written by kallima-gen %s. Do not edit.\n"
        "// Transforms y[k] = sum of x[j] * exp(-2*pi*i * j * k / n); those "
        "with twiddle factors\n"
        "// multiply y[k], k = 1 .. n-1, by w[k]. May be included several times, "
        "with other macros.\n"
        "#ifndef CODELET\n"
        "#define CODELET(n)         dft_##n\n"
        "#define CODELET_TWIDDLE(n) dft_##n##_twiddle\n"
        "#endif\n"
        "%s",
        flavour_names[flavour], kal_dialect_find("c")->defaults);
    for (int i = 0; i < count; i++) {
        KAL_TRY(add_codelet(text, flavour, length[i].n, false));
        if (kal_length_is_compiled(length[i].n, true))
            KAL_TRY(add_codelet(text, flavour, length[i].n, true));
    }
    return text->status;
}

static bool write_file(const char *path, const struct kal_text *text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const bool written = fwrite(text->data, 1, text->length, file) == text->length;
    return fclose(file) == 0 && written;
}

// Write beside the target and rename, so that no reader sees half a file.
static bool replace_file(const char *path, const struct kal_text *text)
{
    char temporary[PATH_BYTES];
    const int length = snprintf(temporary, sizeof temporary, "%s.new", path);
    if (length < 0 || length >= PATH_BYTES)
        return false;
    if (write_file(temporary, text) && rename(temporary, path) == 0)
        return true;
    remove(temporary);
    return false;
}

static int find_flavour(const char *name)
{
    for (int i = 0; i < KAL_FLAVOUR_COUNT; i++) {
        if (strcmp(name, flavour_names[i]) == 0)
            return i;
    }
    return -1;
}

int main(int argc, char **argv)
{
    const int flavour = argc == 3 ? find_flavour(argv[1]) : -1;
    struct kal_text text;

    if (flavour < 0) {
        fprintf(stderr, "usage: kallima-gen plain|fma OUTFILE\n");
        return 2;
    }
    kal_text_init(&text, NULL);
    const kallima_status status = write_header(&text, (enum kal_flavour)flavour);
    const bool written = status == KALLIMA_OK && replace_file(argv[2], &text);
    kal_text_clear(&text);
    if (!written)
        fprintf(stderr, "kallima-gen: %s: %s\n", argv[2],
                status ? kallima_status_text(status) : "cannot be written");
    return written ? 0 : 1;
}
