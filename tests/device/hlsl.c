// SPDX-License-Identifier: MIT
#include "hlsl.h"

#include <stdio.h>
#include <string.h>

// glslang has no asuint() of a double: exact for what is 0 or normal in f32 too, which is all
// that tests store; anything else becomes 0.
static const char bits_of_double[] =
    "void asuint(double value, out uint low, out uint high)\n"
    "{\n"
    "    const double magnitude = value < 0.0L ? -value : value;\n"
    "    const uint rounded = (asuint(float(magnitude)) & 0x7fffffffu) >> 23; // -0 too\n"
    "    uint exponent = rounded + 896u; // 1023 - 127; rounding to f32 may have raised "
    "it\n"
    "    double rest = magnitude * asdouble(0u, (2046u - exponent) << 20);\n"
    "    const bool is_raised = rest < 1.0L;\n"
    "    exponent = is_raised ? exponent - 1u : exponent;\n"
    "    rest = is_raised ? rest * 2.0L : rest;\n"
    "    rest = (rest - 1.0L) * 1048576.0L;\n"
    "    const uint upper = uint(rest);\n"
    "    const uint lower = uint((rest - double(upper)) * 4294967296.0L);\n"
    "    const uint top = (value < 0.0L ? 0x80000000u : 0u) | (exponent << 20) | upper;\n"
    "    low = rounded == 0u ? 0u : lower;\n"
    "    high = rounded == 0u ? 0u : top;\n"
    "}\n";

bool hlsl_compile(const char *text, const char *path)
{
    char command[512];
    snprintf(
        command, sizeof command,
        "log=$(glslangValidator -D -V -e kallima --stdin -S comp --target-env vulkan1.1 "
        "--hlsl-iomap --shift-UBO-binding 15 -o '%s' 2>&1) || "
        "{ echo \"$log\" >&2; exit 1; }",
        path);
    FILE *compiler = popen(command, "w");
    if (!compiler)
        return false;
    if (strstr(text, "asuint(value, low, high)"))
        fputs(bits_of_double, compiler);
    fputs(text, compiler);
    return pclose(compiler) == 0;
}
