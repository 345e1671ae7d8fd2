// SPDX-License-Identifier: MIT
#include "simulate_compile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

enum { PATH_BYTES = 512, LOG_BYTES = 600, COMMAND_NOT_FOUND = 127 };

// Macros of the dialect that have another meaning here.
static const struct {
    const char *head; // up to what follows the name
    const char *meaning;
} macros[] = {
    { "#define MEMORY(", "#define MEMORY(type, name) simulate_array<type> name" },
    { "#define TABLE(", "#define TABLE(type, name) simulate_array<type> name" },
    { "#define BIND(", "#define BIND(type, name) name.title = #name;" },
    { "#define ROOT(", "#define ROOT(i) SIMULATE_ENTRY(roots, simulate_roots, i)" },
    { "#define MAP(", "#define MAP(i) SIMULATE_ENTRY(map, simulate_maps, i)" },
    { "#define TWO_ROOTS(", "#define TWO_ROOTS(a, b, i) const C a = ROOT(i - (i) % 2), b "
                            "= ROOT(i - (i) % 2 + 1);" },
    { "#define TILE(",
      "#define TILE(type, name, count) const simulate_array<type> name = { (type "
      "*)simulate->group_memory(sizeof(type) * (count)), count, #name };" },
    { "#define SHARED(",
      "#define SHARED(type, name, count) static char name##_key; const "
      "simulate_array<type> name = { (type *)simulate->shared(&name##_key, sizeof(type) "
      "* (count)), count, #name };" },
    { "#define PEEK(", "#define PEEK(counters, i) simulate_peek(&(counters)[i])" },
    { "#define CLUSTER_HAS_READ ",
      "#define CLUSTER_HAS_READ simulate->cluster_barrier(__LINE__)" },
    { "#define CLUSTER_BARRIER ",
      "#define CLUSTER_BARRIER simulate->cluster_barrier(__LINE__)" },
    { "#define CLUSTER_STORE(",
      "#define CLUSTER_STORE(rank, at, value) (*(C *)simulate->cluster_memory(rank, "
      "sizeof(C) * (size_t)(at), sizeof(C)) = (value))" },
};

static const char *meaning_of(const char *line)
{
    for (size_t i = 0; i < KAL_COUNT(macros); i++) {
        if (strncmp(line, macros[i].head, strlen(macros[i].head)) == 0)
            return macros[i].meaning;
    }
    return NULL;
}

// Copy the text, line by line, so that numbers of lines stay.
static void translate(struct kal_text *out, const char *text)
{
    while (*text) {
        const char *meaning = meaning_of(text), *end;
        bool is_continued;
        if (meaning)
            kal_text_add(out, "%s", meaning);
        do {
            end = text + strcspn(text, "\n");
            is_continued = meaning && end > text && end[-1] == '\\';
            kal_text_add(out, "%.*s\n", meaning ? 0 : (int)(end - text), text);
            text = end + (*end == '\n');
        } while (is_continued && *text);
    }
}

static int replace(struct kal_text *out, const char *text, const char *before,
                   const char *after)
{
    int places = 0;
    for (const char *at; before && (at = strstr(text, before)); places++) {
        kal_text_add(out, "%.*s%s", (int)(at - text), text, after);
        text = at + strlen(before);
    }
    kal_text_add(out, "%s", text);
    return places;
}

// What reads tables. A number that this argument starts with is a table's first entry.
static const struct {
    const char *array, *macro;
    int argument;
} readers[] = { { "simulate_roots", "ROOT(", 0 },
                { "simulate_roots", "TWO_ROOTS(", 2 },
                { "simulate_roots", "MEET(", 3 },
                { "simulate_maps", "MAP(", 0 } };

static const char *skip_arguments(const char *text, int count)
{
    while (count--) {
        text += strcspn(text, ",");
        text += strspn(text, ", ");
    }
    return text;
}

// The first entries of all tables that are parts of `array`.
static void print_tables(struct kal_text *out, const char *array, const char *text)
{
    kal_text_add(out, "static constexpr long long %s[] = {", array);
    for (size_t i = 0; i < KAL_COUNT(readers); i++) {
        const char *at = strcmp(readers[i].array, array) == 0 ? text : "";
        while ((at = strstr(at, readers[i].macro))) {
            at = skip_arguments(at + strlen(readers[i].macro), readers[i].argument);
            if (*at >= '0' && *at <= '9')
                kal_text_add(out, " %lld,", strtoll(at, NULL, 10));
        }
    }
    kal_text_add(out, " %lld };\n", (long long)INT64_MAX);
}

static void print_entry(struct kal_text *out, const struct kal_kernel_text *text)
{
    kal_text_add(out,
                 "extern \"C\" void simulate_enter(const simulate_slot *slots)\n{\n"
                 "    %s(",
                 text->name);
    for (int i = 0; i < text->slots; i++)
        kal_text_add(out, "%sslots[%d]", i ? ", " : "", i);
    kal_text_add(out, ");\n}\n");
}

static bool write_file(const char *path, const struct kal_text *source)
{
    FILE *file = source->status || !source->data ? NULL : fopen(path, "w");
    if (!file)
        return false;
    const bool ok = fputs(source->data, file) >= 0;
    return fclose(file) == 0 && ok;
}

struct folder {
    char path[PATH_BYTES - 16], source[PATH_BYTES], library[PATH_BYTES], log[PATH_BYTES];
};

static bool make_folder(struct folder *f)
{
    const char *parent = getenv("TMPDIR");
    snprintf(f->path, sizeof f->path, "%s/kallima-simulate-XXXXXX",
             parent && *parent ? parent : "/tmp");
    if (!mkdtemp(f->path))
        return false;
    snprintf(f->source, sizeof f->source, "%s/kernel.cpp", f->path);
    snprintf(f->library, sizeof f->library, "%s/kernel.so", f->path);
    snprintf(f->log, sizeof f->log, "%s/log", f->path);
    return true;
}

static void remove_folder(const struct folder *f)
{
    (void)unlink(f->source);
    (void)unlink(f->library);
    (void)unlink(f->log);
    (void)rmdir(f->path);
}

static kallima_status run_compiler(const struct folder *f)
{
    char command[4 * PATH_BYTES], log[LOG_BYTES] = "";
    // Nothing is linked: the program that loads the kernel has the C library already.
    snprintf(command, sizeof command,
             "c++ -std=c++17 -O1 -w -ffp-contract=off -fno-exceptions -fPIC -shared "
             "-nostdlib '%s' -o '%s' >'%s' 2>&1",
             f->source, f->library, f->log);
    const int code = system(command);
    if (code == 0)
        return KALLIMA_OK;
    if (code != -1 && WIFEXITED(code) && WEXITSTATUS(code) == COMMAND_NOT_FOUND)
        return kal_fail(NULL, KALLIMA_E_ABSENT,
                        "simulate: there is no c++ to compile kernels with; g++ has one");
    FILE *file = fopen(f->log, "r");
    if (file) {
        log[fread(log, 1, sizeof log - 1, file)] = '\0';
        fclose(file);
    }
    return kal_fail(NULL, KALLIMA_E_COMPILE, "simulate: c++ ends with %d: %s", code, log);
}

static kallima_status load(struct simulate_code *out, const struct folder *f)
{
    out->library = dlopen(f->library, RTLD_NOW | RTLD_LOCAL);
    if (!out->library)
        return kal_fail(NULL, KALLIMA_E_COMPILE, "simulate: %s", dlerror());
    void *enter = dlsym(out->library, "simulate_enter");
    out->calls = dlsym(out->library, "simulate");
    memcpy(&out->enter, &enter, sizeof enter); // C has no cast from objects to functions
    if (enter && out->calls)
        return KALLIMA_OK;
    simulate_release(out);
    return kal_fail(NULL, KALLIMA_E_COMPILE, "simulate: a kernel without its entry");
}

static kallima_status build(struct simulate_code *out, const struct kal_text *source)
{
    struct folder folder;
    if (!make_folder(&folder))
        return kal_fail(NULL, KALLIMA_E_DEVICE, "simulate: %s: cannot be made",
                        folder.path);
    kallima_status status = KALLIMA_E_DEVICE;
    if (!write_file(folder.source, source))
        (void)kal_fail(NULL, status, "simulate: %s: cannot be written", folder.source);
    else
        status = run_compiler(&folder);
    if (!status)
        status = load(out, &folder);
    remove_folder(&folder);
    return status;
}

kallima_status simulate_compile(struct simulate_code *out,
                                const struct kal_kernel_text *text, const char *before,
                                const char *after, int *places)
{
    struct kal_text planted, source;

    kal_text_init(&planted, NULL);
    kal_text_init(&source, NULL);
    *places += replace(&planted, text->text, before, after);
    kal_text_add(&source, "#include \"%s\"\n", SIMULATE_CUDA_H);
    if (!planted.status) {
        print_tables(&source, "simulate_roots", planted.data);
        print_tables(&source, "simulate_maps", planted.data);
        kal_text_add(&source, "#line 1 \"kernel\"\n");
        translate(&source, planted.data);
    }
    print_entry(&source, text);
    const kallima_status status = build(out, &source);
    kal_text_clear(&source);
    kal_text_clear(&planted);
    return status;
}

void simulate_release(struct simulate_code *code)
{
    if (code->library)
        dlclose(code->library);
    code->library = NULL;
}
