// SPDX-License-Identifier: MIT
// Text to cubin or PTX. The compiler adds nothing of its own to the arithmetic: fused
// operations are where the text has them.
#include "device/cuda/driver.h"
#include "device/cuda/nvrtc.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ARCHITECTURES = 128 };

static kallima_status find_nvrtc(const struct kal_host *host,
                                 const struct cuda_nvrtc **nvrtc)
{
    *nvrtc = kal_cuda_nvrtc_find();
    if (!*nvrtc)
        return kal_fail(
            host, KALLIMA_E_ABSENT,
            "cuda: no NVRTC to compile with; install libnvrtc.so of CUDA 11.2 "
            "or later, or set CUDA_PATH");
    return KALLIMA_OK;
}

// What a failure of NVRTC is to us; what is not listed is E_COMPILE.
static kallima_status meaning(nvrtcResult result)
{
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
        return KALLIMA_E_MEMORY;
    return result == NVRTC_ERROR_INVALID_OPTION ? KALLIMA_E_UNSUPPORTED
                                                : KALLIMA_E_COMPILE;
}

static kallima_status check(const struct kal_host *host, const struct cuda_nvrtc *nvrtc,
                            nvrtcResult result, const struct kal_kernel_text *text,
                            const char *log)
{
    if (result == NVRTC_SUCCESS)
        return KALLIMA_OK;
    return kal_fail(host, meaning(result), "cuda: kernel %s: %s: %s", text->name,
                    nvrtc->GetErrorString(result), log);
}

// Newest architecture that NVRTC compiles for and that is not newer than the device; 0: none.
static int best_architecture(const struct cuda_nvrtc *nvrtc, int wanted)
{
    int known[MOST_ARCHITECTURES], count = 0, best = 0;

    if (nvrtc->GetNumSupportedArchs(&count) != NVRTC_SUCCESS ||
        count > MOST_ARCHITECTURES || nvrtc->GetSupportedArchs(known) != NVRTC_SUCCESS)
        return 0;
    for (int i = 0; i < count; i++) {
        if (known[i] <= wanted && known[i] > best)
            best = known[i];
    }
    return best;
}

kallima_status kal_cuda_architecture(const struct kal_host *host, int major, int minor,
                                     char *architecture, size_t capacity)
{
    const struct cuda_nvrtc *nvrtc;
    const int wanted = 10 * major + minor;

    KAL_TRY(find_nvrtc(host, &nvrtc));
    const int best = best_architecture(nvrtc, wanted);
    if (best == 0)
        return kal_fail(
            host, KALLIMA_E_UNSUPPORTED,
            "cuda: NVRTC %d.%d does not compile for sm_%d; another version may",
            nvrtc->major, nvrtc->minor, wanted);
    snprintf(architecture, capacity, "%s_%d", best == wanted ? "sm" : "compute", best);
    return KALLIMA_OK;
}

int kal_cuda_compiler_version(void)
{
    const struct cuda_nvrtc *nvrtc = kal_cuda_nvrtc_find();
    return nvrtc ? 1000 * nvrtc->major + 10 * nvrtc->minor : 0;
}

// Fail with the compiler's log, or without where there is no memory for it.
static kallima_status fail_with_log(const struct kal_host *host,
                                    const struct cuda_nvrtc *nvrtc, nvrtcProgram program,
                                    nvrtcResult result,
                                    const struct kal_kernel_text *text)
{
    size_t bytes = 0;
    void *log = NULL;

    if (nvrtc->GetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 0 &&
        kal_alloc(host, &log, bytes, 1) == KALLIMA_OK &&
        nvrtc->GetProgramLog(program, log) != NVRTC_SUCCESS)
        ((char *)log)[0] = '\0';
    const kallima_status status =
        check(host, nvrtc, result, text, log ? (const char *)log : "no log");
    kal_free(host, log);
    return status;
}

// A cubin or PTX: how large it is, and the bytes.
struct product {
    nvrtcResult (*measure)(nvrtcProgram, size_t *);
    nvrtcResult (*copy)(nvrtcProgram, char *);
};

static kallima_status take_product(const struct kal_host *host,
                                   const struct cuda_nvrtc *nvrtc, nvrtcProgram program,
                                   struct product product,
                                   const struct kal_kernel_text *text,
                                   struct kal_binary *binary)
{
    size_t bytes = 0;
    void *data;

    KAL_TRY(check(host, nvrtc, product.measure(program, &bytes), text, "size"));
    KAL_TRY(kal_alloc(host, &data, bytes, 1));
    const kallima_status status =
        check(host, nvrtc, product.copy(program, data), text, "copy");
    if (status) {
        kal_free(host, data);
        return status;
    }
    *binary = (struct kal_binary){ data, bytes };
    return KALLIMA_OK;
}

static kallima_status compile_program(const struct kal_host *host,
                                      const struct cuda_nvrtc *nvrtc,
                                      nvrtcProgram program,
                                      const struct kal_kernel_text *text,
                                      const char *architecture, struct kal_binary *binary)
{
    // A long text has the codelet of a large prime, whose values take all registers: moving
    // its instructions about takes half of the time, makes it no faster, and spills.
    enum { LONG_CHARS = 80000 };
    char target[64];
    snprintf(target, sizeof target, "--gpu-architecture=%s", architecture);
    const char *const options[] = { target, "--std=c++17", "--fmad=false",
                                    "-default-device", "--ptxas-options=-O1" };
    const int count = (int)KAL_COUNT(options) - (strlen(text->text) < LONG_CHARS);
    const struct product cubin = { nvrtc->GetCUBINSize, nvrtc->GetCUBIN };
    const struct product ptx = { nvrtc->GetPTXSize, nvrtc->GetPTX };

    const nvrtcResult result = nvrtc->CompileProgram(program, count, options);
    if (result != NVRTC_SUCCESS)
        return fail_with_log(host, nvrtc, program, result, text);
    return take_product(host, nvrtc, program,
                        strncmp(architecture, "sm_", 3) == 0 ? cubin : ptx, text, binary);
}

kallima_status kal_cuda_compile(const struct kal_host *host,
                                const struct kal_kernel_text *text,
                                const char *architecture, struct kal_binary *cubin)
{
    const struct cuda_nvrtc *nvrtc;
    nvrtcProgram program;
    char file[200];

    *cubin = (struct kal_binary){ NULL, 0 };
    KAL_TRY(find_nvrtc(host, &nvrtc));
    snprintf(file, sizeof file, "%s.cu", text->name);
    KAL_TRY(check(host, nvrtc,
                  nvrtc->CreateProgram(&program, text->text, file, 0, NULL, NULL), text,
                  "no program"));
    const kallima_status status =
        compile_program(host, nvrtc, program, text, architecture, cubin);
    nvrtc->DestroyProgram(&program);
    return status;
}
