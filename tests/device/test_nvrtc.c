// SPDX-License-Identifier: MIT
// Usage: test_nvrtc [ARCHITECTURE FILE.cu...]
// Compile kernels with NVRTC, which needs no GPU, and print what each takes of a lane and of
// a group. Without files, one kernel of its own: its numbers are roughly known. 77: no NVRTC.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"

enum { SKIPPED = 77 };

// A section of a cubin, by its number.
struct section {
    const char *name;
    const unsigned char *data;
    uint64_t bytes;
    uint32_t info;
};

static struct section section_at(const struct kal_binary *cubin, int index)
{
    const unsigned char *bytes = cubin->data;
    Elf64_Ehdr header;
    Elf64_Shdr names, own;

    memcpy(&header, bytes, sizeof header);
    memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof names,
           sizeof names);
    memcpy(&own, bytes + header.e_shoff + (size_t)index * sizeof own, sizeof own);
    return (struct section){ (const char *)bytes + names.sh_offset + own.sh_name,
                             bytes + own.sh_offset, own.sh_size, own.sh_info };
}

static int section_count(const struct kal_binary *cubin)
{
    Elf64_Ehdr header;
    memcpy(&header, cubin->data, sizeof header);
    return header.e_shnum;
}

static bool find_section(const struct kal_binary *cubin, const char *prefix,
                         const char *kernel, struct section *found)
{
    char name[1000];
    snprintf(name, sizeof name, "%s%s", prefix, kernel);
    for (int i = 0; i < section_count(cubin); i++) {
        *found = section_at(cubin, i);
        if (strcmp(found->name, name) == 0)
            return true;
    }
    return false;
}

// The record of `attribute` for a function, in .nv.info: four bytes of format, attribute and
// size, then the function's symbol and a value. -1: none.
static int64_t read_record(const struct section *info, int attribute, uint32_t symbol)
{
    enum { FORMAT_SIZED = 4, HEAD_BYTES = 4 };
    for (uint64_t at = 0; at + HEAD_BYTES <= info->bytes;) {
        const unsigned char *record = info->data + at;
        uint16_t bytes = 0;
        uint32_t pair[2];

        memcpy(&bytes, record + 2, sizeof bytes);
        if (record[0] == FORMAT_SIZED && record[1] == attribute && bytes == sizeof pair) {
            memcpy(pair, record + HEAD_BYTES, sizeof pair);
            if (pair[0] == symbol)
                return pair[1];
        }
        at += HEAD_BYTES + (record[0] == FORMAT_SIZED ? bytes : 0);
    }
    return -1;
}

struct usage {
    int64_t registers, stack_bytes, group_bytes, code_bytes;
};

// The low 24 bits of a code section's info are its function's symbol.
static struct usage read_usage(const struct kal_binary *cubin, const char *kernel)
{
    enum { ATTRIBUTE_FRAME_BYTES = 0x11, ATTRIBUTE_REGISTERS = 0x2f };
    struct section code = { 0 }, info, shared;
    struct usage usage = { -1, -1, 0, 0 };

    find_section(cubin, ".text.", kernel, &code);
    usage.code_bytes = (int64_t)code.bytes;
    if (find_section(cubin, ".nv.info", "", &info)) {
        const uint32_t symbol = code.info & 0xffffff;
        usage.registers = read_record(&info, ATTRIBUTE_REGISTERS, symbol);
        usage.stack_bytes = read_record(&info, ATTRIBUTE_FRAME_BYTES, symbol);
    }
    if (find_section(cubin, ".nv.shared.", kernel, &shared))
        usage.group_bytes = (int64_t)shared.bytes;
    return usage;
}

static int print_kernels(const char *file, const struct kal_binary *cubin)
{
    static const char prefix[] = ".text.";
    int count = 0;
    for (int i = 0; i < section_count(cubin); i++) {
        const struct section section = section_at(cubin, i);
        if (strncmp(section.name, prefix, sizeof prefix - 1) != 0)
            continue;
        const char *kernel = section.name + sizeof prefix - 1;
        const struct usage usage = read_usage(cubin, kernel);
        printf("%-24s %-32s %9lld %11lld %11lld %10lld\n", file, kernel,
               (long long)usage.registers, (long long)usage.stack_bytes,
               (long long)usage.group_bytes, (long long)usage.code_bytes);
        count++;
    }
    return count;
}

// Return the number of kernels compiled; 0 on failure.
static int compile(const char *file, const char *source, const char *architecture)
{
    const struct kal_kernel_text text = { .name = file, .text = source };
    struct kal_binary cubin;

    if (kal_cuda_compile(NULL, &text, architecture, &cubin) != KALLIMA_OK) {
        fprintf(stderr, "%s\n", kallima_last_error());
        return 0;
    }
    const int count = print_kernels(file, &cubin);
    kal_free(NULL, cubin.data);
    return count;
}

static char *read_file(const char *path)
{
    enum { MOST_BYTES = 1 << 26 };
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(MOST_BYTES, 1) : NULL;
    if (text && fread(text, 1, MOST_BYTES - 1, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static int compile_files(const char *architecture, char **paths, int count)
{
    int failures = 0;
    for (int i = 0; i < count; i++) {
        char *source = read_file(paths[i]);
        if (!source || compile(paths[i], source, architecture) == 0)
            failures++;
        free(source);
    }
    return failures;
}

// Two products and a difference in doubles, a fused and an unfused one, and group memory.
static const char sample[] = "extern \"C\" __global__ __launch_bounds__(128)\n"
                             "void sample(const float *in, float *out)\n"
                             "{\n"
                             "    __shared__ float tile[128];\n"
                             "    float x = in[threadIdx.x];\n"
                             "    tile[threadIdx.x] = fmaf(x, x, 1.0f) * x + 2.0f;\n"
                             "    __syncthreads();\n"
                             "    out[threadIdx.x] = tile[127 - threadIdx.x];\n"
                             "}\n";

static bool sample_is_as_expected(const char *architecture)
{
    const struct kal_kernel_text text = { .name = "sample", .text = sample };
    struct kal_binary cubin;

    if (kal_cuda_compile(NULL, &text, architecture, &cubin) != KALLIMA_OK)
        return false;
    const struct usage usage = read_usage(&cubin, "sample");
    kal_free(NULL, cubin.data);
    return usage.registers > 4 && usage.registers < 64 && usage.stack_bytes == 0 &&
           usage.group_bytes >= 512 && usage.code_bytes > 0;
}

static bool errors_are_said(const char *architecture)
{
    const struct kal_kernel_text text = { .name = "wrong",
                                          .text = "extern \"C\" no_such_type f();" };
    struct kal_binary cubin;
    return kal_cuda_compile(NULL, &text, architecture, &cubin) == KALLIMA_E_COMPILE &&
           !cubin.data && strstr(kallima_last_error(), "wrong") &&
           strstr(kallima_last_error(), "no_such_type");
}

static bool strangers_are_refused(void)
{
    const struct kal_kernel_text text = { .name = "sample", .text = sample };
    struct kal_binary cubin;
    return kal_cuda_compile(NULL, &text, "sm_7", &cubin) == KALLIMA_E_UNSUPPORTED &&
           !cubin.data;
}

int main(int argc, char **argv)
{
    const char *architecture = argc > 1 ? argv[1] : "sm_90";
    const struct kal_kernel_text text = { .name = "sample", .text = sample };
    struct kal_binary ptx;

    if (kal_cuda_compile(NULL, &text, "compute_90", &ptx) == KALLIMA_E_ABSENT) {
        fprintf(stderr, "%s\n", kallima_last_error());
        return SKIPPED;
    }
    const bool is_ptx = ptx.data && strstr(ptx.data, ".entry sample") != NULL;
    kal_free(NULL, ptx.data);
    printf("%-24s %-32s %9s %11s %11s %10s\n", "file", "kernel", "registers",
           "stack bytes", "group bytes", "code bytes");
    if (argc > 2)
        return compile_files(architecture, argv + 2, argc - 2) ? 1 : 0;
    if (compile("sample", sample, architecture) != 1 || !is_ptx ||
        !sample_is_as_expected(architecture) || !errors_are_said(architecture) ||
        !strangers_are_refused()) {
        fprintf(stderr, "test_nvrtc: %s\n", kallima_last_error());
        return 1;
    }
    return 0;
}
