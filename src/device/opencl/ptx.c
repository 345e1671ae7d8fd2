// SPDX-License-Identifier: MIT
// The binary of a program of NVIDIA's is PTX, the text of a virtual machine, in which two
// things can be said. OpenCL C has no word for how many groups a processor shall hold, by which
// a compiler knows how many registers it may take, and NVIDIA's no option that it heeds; PTX
// has one. And the compiler tells of registers when it compiles, but the driver keeps what was
// compiled and then tells nothing: a comment that never was there before has it compile, and
// another one keeps what it told beside what our own cache keeps.
#include "device/opencl/driver.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

// A copy of `ptx` behind a line of its own.
static kallima_status copy_behind(struct kal_binary *out, const struct kal_host *host,
                                  const char *line, const struct kal_binary *ptx)
{
    const size_t length = strlen(line);
    void *memory;

    *out = (struct kal_binary){ NULL, 0 };
    KAL_TRY(kal_alloc_object(host, &memory, length + ptx->bytes + 1));
    memcpy(memory, line, length);
    memcpy((char *)memory + length, ptx->data, ptx->bytes);
    *out = (struct kal_binary){ memory, length + ptx->bytes };
    return KALLIMA_OK;
}

static bool is_ptx(const struct kal_binary *binary)
{
    return strstr(binary->data, ".version ") != NULL;
}

kallima_status kal_ocl_ptx_afresh(struct kal_binary *out, const struct kal_host *host,
                                  const struct kal_binary *ptx)
{
    static atomic_uint count;
    char line[64];

    *out = (struct kal_binary){ NULL, 0 };
    if (!is_ptx(ptx))
        return KALLIMA_OK;
    snprintf(line, sizeof line, "// %.9f %d %u\n", kal_clock_now(), (int)getpid(),
             atomic_fetch_add(&count, 1));
    return copy_behind(out, host, line, ptx);
}

kallima_status kal_ocl_ptx_for_groups(struct kal_binary *out, const struct kal_host *host,
                                      const struct kal_binary *ptx, int resident)
{
    char directive[32];
    // Of the kernel, of which there is one.
    const char *group_size = is_ptx(ptx) ? strstr(ptx->data, "\n.reqntid ") : NULL;
    void *memory;

    *out = (struct kal_binary){ NULL, 0 };
    if (!group_size)
        return KALLIMA_OK;
    const size_t length =
        (size_t)snprintf(directive, sizeof directive, "\n.minnctapersm %d", resident);
    const size_t before = (size_t)(group_size - (const char *)ptx->data);
    KAL_TRY(kal_alloc_object(host, &memory, ptx->bytes + length + 1));
    char *text = memory;
    memcpy(text, ptx->data, before);
    memcpy(text + before, directive, length);
    memcpy(text + before + length, group_size, ptx->bytes - before);
    *out = (struct kal_binary){ text, ptx->bytes + length };
    return KALLIMA_OK;
}

static const char facts_line[] = "// registers %d, of which in memory %d bytes\n";

kallima_status kal_ocl_ptx_with_facts(struct kal_binary *out, const struct kal_host *host,
                                      const struct kal_binary *ptx,
                                      const struct kal_kernel_facts *facts)
{
    char line[96];
    snprintf(line, sizeof line, facts_line, facts->registers, facts->spill_bytes);
    return copy_behind(out, host, line, ptx);
}

void kal_ocl_ptx_read_facts(const struct kal_binary *binary,
                            struct kal_kernel_facts *facts)
{
    char line[96] = "";
    int registers, spill_bytes;

    memcpy(line, binary->data, (size_t)kal_min((int64_t)binary->bytes, sizeof line - 1));
    if (sscanf(line, facts_line, &registers, &spill_bytes) == 2 && registers > 0) {
        facts->registers = registers;
        facts->spill_bytes = spill_bytes;
    }
}
