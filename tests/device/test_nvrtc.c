// SPDX-License-Identifier: MIT
// Usage: test_nvrtc [ARCHITECTURE FILE.cu...]
// Compile kernels with NVRTC, which needs no GPU, and print what each takes of a lane and of
// a group. Without files, one kernel of its own: its numbers are roughly known. 77: no NVRTC.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin.h"
#include "device/cuda/cuda.h"

enum { SKIPPED = 77 };

static int print_kernels(const char *file, const struct kal_binary *cubin)
{
    const char *kernel;
    int count = 0;
    for (; (kernel = cubin_kernel_name(cubin, count)); count++) {
        const struct cubin_usage usage = cubin_usage_of(cubin, kernel);
        printf("%-24s %-32s %9lld %11lld %11lld %10lld\n", file, kernel,
               (long long)usage.registers, (long long)usage.stack_bytes,
               (long long)usage.group_bytes, (long long)usage.code_bytes);
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
    const struct cubin_usage usage = cubin_usage_of(&cubin, "sample");
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
