// SPDX-License-Identifier: MIT
// Kernels: text or a binary into a program.
#include "device/opengl/driver.h"

#include <string.h>

// As much of the compiler's log as fits a sentence.
enum { LOG_CHARACTERS = 800 };

static const struct gl_device *device_of(const struct gl_kernel *kernel)
{
    return (const struct gl_device *)kernel->base.device;
}

// The line with the first error, or the start if no line calls itself one.
static const char *first_error(const char *log)
{
    const char *error = strstr(log, "error");
    while (error && error > log && error[-1] != '\n')
        error--;
    return error ? error : log + strspn(log, " \n");
}

static kallima_status refuse(const struct gl_kernel *kernel, const char *name,
                             const char *call, const char *log)
{
    const kallima_status status = kal_gl_check(device_of(kernel), call);
    return status ? status
                  : kal_fail(&kernel->base.device->host, KALLIMA_E_COMPILE,
                             "opengl: kernel %s: %s: %s", name, call, first_error(log));
}

static kallima_status link_program(const struct gl_kernel *kernel, const char *name)
{
    const struct gl_api *gl = device_of(kernel)->gl;
    char log[LOG_CHARACTERS] = "";
    int is_linked = 0;

    gl->LinkProgram(kernel->program);
    gl->GetProgramiv(kernel->program, GL_LINK_STATUS, &is_linked);
    if (is_linked)
        return kal_gl_check(device_of(kernel), "glLinkProgram");
    gl->GetProgramInfoLog(kernel->program, sizeof log, NULL, log);
    return refuse(kernel, name, "glLinkProgram", log);
}

static kallima_status check_shader(const struct gl_kernel *kernel, unsigned shader,
                                   const char *name, const char *call)
{
    const struct gl_api *gl = device_of(kernel)->gl;
    char log[LOG_CHARACTERS] = "";
    int is_compiled = 0;

    gl->GetShaderiv(shader, GL_COMPILE_STATUS, &is_compiled);
    if (is_compiled)
        return kal_gl_check(device_of(kernel), call);
    gl->GetShaderInfoLog(shader, sizeof log, NULL, log);
    return refuse(kernel, name, call, log);
}

static kallima_status compile(const struct gl_kernel *kernel, unsigned shader,
                              const struct kal_kernel_text *text)
{
    const struct gl_api *gl = device_of(kernel)->gl;

    gl->ShaderSource(shader, 1, &text->text, NULL);
    gl->CompileShader(shader);
    return check_shader(kernel, shader, text->name, "glCompileShader");
}

static kallima_status build(const struct gl_kernel *kernel,
                            const struct kal_kernel_text *text)
{
    const struct gl_api *gl = device_of(kernel)->gl;
    const unsigned shader = gl->CreateShader(GL_COMPUTE_SHADER);
    kallima_status status = compile(kernel, shader, text);
    if (!status) {
        gl->ProgramParameteri(kernel->program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT,
                              GL_TRUE);
        gl->AttachShader(kernel->program, shader);
        status = link_program(kernel, text->name);
        gl->DetachShader(kernel->program, shader);
    }
    gl->DeleteShader(shader);
    return status;
}

// A binary is the number of its format, then what the driver gave.
enum { FORMAT_BYTES = sizeof(unsigned) };

static kallima_status load(const struct gl_kernel *kernel, const char *name,
                           const struct kal_binary *binary)
{
    const struct gl_api *gl = device_of(kernel)->gl;
    const char *data = binary->data;
    unsigned format = 0;
    int is_linked = 0;

    if (binary->bytes > FORMAT_BYTES && binary->bytes < INT32_MAX) {
        memcpy(&format, data, FORMAT_BYTES);
        gl->ProgramBinary(kernel->program, format, data + FORMAT_BYTES,
                          (int)(binary->bytes - FORMAT_BYTES));
        gl->GetProgramiv(kernel->program, GL_LINK_STATUS, &is_linked);
    }
    if (gl->GetError() == 0 && is_linked)
        return KALLIMA_OK;
    return kal_fail(&kernel->base.device->host, KALLIMA_E_COMPILE,
                    "opengl: kernel %s: glProgramBinary: the driver refuses it", name);
}

// *made stays empty where the driver gives none.
static kallima_status take_binary(const struct gl_kernel *kernel, struct kal_binary *made)
{
    const struct gl_device *device = device_of(kernel);
    unsigned format = 0;
    int bytes = 0;
    void *memory;

    device->gl->GetProgramiv(kernel->program, GL_PROGRAM_BINARY_LENGTH, &bytes);
    if (bytes <= 0)
        return KALLIMA_OK;
    KAL_TRY(kal_alloc(&device->base.host, &memory, FORMAT_BYTES + (uint64_t)bytes, 1));
    device->gl->GetProgramBinary(kernel->program, bytes, &bytes, &format,
                                 (char *)memory + FORMAT_BYTES);
    memcpy(memory, &format, FORMAT_BYTES);
    if (device->gl->GetError() != 0) {
        kal_free(&device->base.host, memory);
        return KALLIMA_OK;
    }
    *made = (struct kal_binary){ memory, FORMAT_BYTES + (uint64_t)bytes };
    return KALLIMA_OK;
}

// Some compilers leave out what a kernel does not use.
static void find_uniforms(struct gl_kernel *kernel)
{
    const struct gl_api *gl = device_of(kernel)->gl;
    const unsigned what = GL_LOCATION;
    int count = 0;

    gl->GetProgramInterfaceiv(kernel->program, GL_UNIFORM, GL_ACTIVE_RESOURCES, &count);
    for (int i = 0; i < count; i++) {
        int location = -1;
        gl->GetProgramResourceiv(kernel->program, GL_UNIFORM, (unsigned)i, 1, &what, 1,
                                 NULL, &location);
        if (location >= 0 && location <= GL_FIRST_GROUP)
            kernel->uniforms |= 1u << location;
    }
}

static kallima_status make_program(struct gl_kernel *kernel,
                                   const struct kal_kernel_text *text,
                                   const struct kal_binary *binary,
                                   struct kal_binary *made)
{
    kernel->program = device_of(kernel)->gl->CreateProgram();
    KAL_TRY(binary ? load(kernel, text->name, binary) : build(kernel, text));
    find_uniforms(kernel);
    return made && !binary ? take_binary(kernel, made) : KALLIMA_OK;
}

kallima_status kal_gl_kernel_create(struct kal_device_kernel **out, kallima_device *base,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made)
{
    struct gl_device *device = (struct gl_device *)base;
    void *object;

    KAL_TRY(kal_kernel_check(base, text));
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct gl_kernel)));
    struct gl_kernel *kernel = object;
    kernel->base = (struct kal_device_kernel){ base, text->lanes };
    kernel->slots = text->slots;
    kallima_status status = kal_gl_begin(device);
    if (!status)
        status = kal_gl_end(device, make_program(kernel, text, binary, made));
    if (status) {
        kal_gl_kernel_destroy(&kernel->base);
        return status;
    }
    *out = &kernel->base;
    return KALLIMA_OK;
}

void kal_gl_kernel_destroy(struct kal_device_kernel *base)
{
    struct gl_kernel *kernel = (struct gl_kernel *)base;
    struct gl_device *device = (struct gl_device *)base->device;
    if (kernel->program && kal_gl_begin_destroying(device) == KALLIMA_OK) {
        device->gl->DeleteProgram(kernel->program);
        kal_gl_end(device, KALLIMA_OK);
    }
    kal_free(&device->base.host, kernel);
}
