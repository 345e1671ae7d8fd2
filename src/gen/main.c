// SPDX-License-Identifier: MIT
// kallima-gen FORM OUTFILE: writes the CPU engine's codelets of one form as a C header.
#include <stdio.h>
#include <string.h>

#include "codelet/lengths.h"
#include "emit/emit.h"

enum { NAME_BYTES = 64, PATH_BYTES = 4096 };

// A file of codelets.
struct form {
    const char *name;
    enum kal_flavour flavour;
    enum kal_codelet_kind kind;
    bool is_of_numbers; // those that whole numbers go through besides
};

static const struct form forms[] = {
    { "plain", KAL_PLAIN, KAL_CODELET_C2C, false },
    { "fma", KAL_FMA, KAL_CODELET_C2C, false },
    { "plain_r2c", KAL_PLAIN, KAL_CODELET_R2C, false },
    { "fma_r2c", KAL_FMA, KAL_CODELET_R2C, false },
    { "plain_c2r", KAL_PLAIN, KAL_CODELET_C2R, false },
    { "fma_c2r", KAL_FMA, KAL_CODELET_C2R, false },
    { "fma_numbers", KAL_FMA, KAL_CODELET_R2C, true },
};

static kallima_status add_codelet(struct kal_text *text, struct kal_codelet_spec spec)
{
    static const char *const suffix[] = {
        [KAL_CODELET_R2C] = "_R2C", [KAL_CODELET_C2R] = "_C2R"
    };
    struct kal_codelet codelet;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "CODELET%s(%d)",
             spec.twiddled ? "_TWIDDLE"
             : spec.kind   ? suffix[spec.kind]
                           : "",
             spec.n);
    const kallima_status status = kal_codelet_build(&codelet, NULL, &spec);
    if (status == KALLIMA_OK) {
        kal_text_add(text, "\n");
        kal_emit_codelet(text, kal_dialect_find("c"), &codelet, false, name);
    }
    kal_codelet_clear(&codelet);
    return status ? status : text->status;
}

static kallima_status add_complex(struct kal_text *text, enum kal_flavour flavour)
{
    int count;
    const struct kal_length *length = kal_lengths_get(&count);

    kal_text_add(
        text,
        "// Transforms y[k] = sum of x[j] * exp(-2*pi*i * j * k / n); those "
        "with twiddle factors\n"
        "// multiply y[k], k = 1 .. n-1, by w[k]. May be included several times, "
        "with other macros.\n"
        "#ifndef CODELET\n"
        "#define CODELET(n)         dft_##n\n"
        "#define CODELET_TWIDDLE(n) dft_##n##_twiddle\n"
        "#endif\n"
        "%s",
        kal_dialect_find("c")->defaults);
    for (int i = 0; i < count; i++) {
        KAL_TRY(add_codelet(text, kal_length_spec(length[i].n, flavour, false)));
        if (kal_length_is_compiled(length[i].n, true))
            KAL_TRY(add_codelet(text, kal_length_spec(length[i].n, flavour, true)));
    }
    return text->status;
}

// Is a real codelet of length n of this form's file? The longest one of numbers is of
// those of reals.
static bool is_of_form(const struct form *form, int n)
{
    const bool is_real = kal_real_row_is_compiled(n);
    return form->is_of_numbers ? !is_real && kal_length_is_of_numbers(n) : is_real;
}

static kallima_status add_real(struct kal_text *text, const struct form *form)
{
    kal_text_add(text,
                 "// Transforms of n reals to the coefficients 0 .. n/2, or back, not "
                 "scaled. The reals are\n"
                 "// read or written in pairs; of an odd number, the last one is alone. "
                 "CODELET_R2C and\n"
                 "// CODELET_C2R name the functions, STORE_REAL and STORE_COEFFICIENT "
                 "store coefficients.\n"
                 "// May be included several times, with other macros.\n"
                 "%s",
                 kal_dialect_find("c")->defaults);
    for (int n = 2; n <= KAL_NUMBERS_MAX; n++) {
        if (is_of_form(form, n))
            KAL_TRY(
                add_codelet(text, kal_real_length_spec(n, form->flavour, form->kind)));
    }
    return text->status;
}

static kallima_status write_header(struct kal_text *text, const struct form *form)
{
    kal_text_add(text, "// Written by kallima-gen %s. Do not edit.\n", form->name);
    return form->kind == KAL_CODELET_C2C ? add_complex(text, form->flavour)
                                         : add_real(text, form);
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

static const struct form *find_form(const char *name)
{
    for (size_t i = 0; i < KAL_COUNT(forms); i++) {
        if (strcmp(name, forms[i].name) == 0)
            return &forms[i];
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const struct form *form = argc == 3 ? find_form(argv[1]) : NULL;
    struct kal_text text;

    if (!form) {
        fprintf(stderr, "usage: kallima-gen plain|fma[_r2c|_c2r|_numbers] OUTFILE\n");
        return 2;
    }
    kal_text_init(&text, NULL);
    const kallima_status status = write_header(&text, form);
    const bool written = status == KALLIMA_OK && replace_file(argv[2], &text);
    kal_text_clear(&text);
    if (!written)
        fprintf(stderr, "kallima-gen: %s: %s\n", argv[2],
                status ? kallima_status_text(status) : "cannot be written");
    return written ? 0 : 1;
}
