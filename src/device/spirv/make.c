// SPDX-License-Identifier: MIT
// SPIR-V of a kernel's text, by the module.
#include <string.h>

#include "device/spirv/spirv.h"

// As much of the compiler's log as fits a sentence.
enum { LOG_CHARACTERS = 800 };

static void *allocate(void *user, size_t bytes)
{
    void *memory;
    return kal_alloc(user, &memory, bytes, 1) == KALLIMA_OK ? memory : NULL;
}

// The line with the first error, or the start if no line calls itself one.
static const char *first_error(const char *log)
{
    const char *error = strstr(log, "ERROR:");
    return error ? error : log + strspn(log, " \n");
}

kallima_status kal_spirv_make(struct kal_binary *out, const struct kal_host *host,
                              const struct kal_kernel_text *text)
{
    const char *reason;
    char log[LOG_CHARACTERS];
    uint32_t *words = NULL;
    size_t bytes = 0;

    *out = (struct kal_binary){ NULL, 0 };
    kal_spirv_compile *compiler = kal_spirv_compiler(&reason);
    if (!compiler)
        return kal_fail(host, KALLIMA_E_UNSUPPORTED, "vulkan: %s", reason);
    const bool is_made =
        compiler(text->text, allocate, (void *)host, &words, &bytes, log, sizeof log);
    if (!is_made && !log[0])
        return kal_fail(host, KALLIMA_E_MEMORY, "vulkan: kernel %s: out of memory",
                        text->name);
    if (!is_made)
        return kal_fail(host, KALLIMA_E_COMPILE, "vulkan: kernel %s: glslang: %s",
                        text->name, first_error(log));
    *out = (struct kal_binary){ words, bytes };
    return KALLIMA_OK;
}
