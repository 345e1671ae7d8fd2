// SPDX-License-Identifier: MIT
// A transform in a program that uses OpenGL already: in its own context, which needs no window,
// between two of its shaders, on its own buffer from an offset on.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>
#include <kallima/interop/opengl.h>
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N = 360,
    HEADER = 1024, // the program's own
    BYTES = N * 2 * sizeof(float),
};

static float out[N]; // powers, as the program's second shader makes them

static PFNGLCREATESHADERPROGRAMVPROC create_program;
static PFNGLGETPROGRAMIVPROC get_program;
static PFNGLUSEPROGRAMPROC use_program;
static PFNGLDELETEPROGRAMPROC delete_program;
static PFNGLDISPATCHCOMPUTEPROC dispatch;
static PFNGLMEMORYBARRIERPROC memory_barrier;
static PFNGLGENBUFFERSPROC create_buffers;
static PFNGLDELETEBUFFERSPROC delete_buffers;
static PFNGLBINDBUFFERPROC bind_buffer;
static PFNGLBINDBUFFERBASEPROC bind_storage;
static PFNGLBUFFERDATAPROC buffer_data;
static PFNGLGETBUFFERSUBDATAPROC read_buffer;

// Element j of the signal, after the header: sin(0.1 j), cos(0.3 j).
static const char signal_text[] =
    "#version 430\n"
    "layout(local_size_x = 1) in;\n"
    "layout(std430, binding = 0) buffer Memory { vec2 header[128]; vec2 signal[]; };\n"
    "void main()\n"
    "{\n"
    "    const float j = float(gl_WorkGroupID.x);\n"
    "    signal[gl_WorkGroupID.x] = vec2(sin(0.1 * j), cos(0.3 * j));\n"
    "}\n";

// Element k of the spectrum, which is behind the signal, becomes its power.
static const char power_text[] =
    "#version 430\n"
    "layout(local_size_x = 1) in;\n"
    "layout(std430, binding = 0) buffer Memory { vec2 memory[]; };\n"
    "layout(std430, binding = 1) buffer Power { float power[]; };\n"
    "void main()\n"
    "{\n"
    "    const uint k = gl_WorkGroupID.x;\n"
    "    power[k] = dot(memory[128 + 360 + k], memory[128 + 360 + k]);\n"
    "}\n";

// Every call of the library that fails, and what else goes wrong, ends the program.
static void check(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "%s: %s (%d)\n", what, kallima_last_error(), failed);
        exit(EXIT_FAILURE);
    }
}

static void skip(void)
{
    puts("no OpenGL 4.3 without a window is present");
    exit(77);
}

// A context of the first device that makes one is current from here on.
static void start_opengl(void)
{
    static const EGLint version[] = { EGL_CONTEXT_MAJOR_VERSION, 4,
                                      EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE };
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    PFNEGLQUERYDEVICESEXTPROC query_devices =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");

    if (!query_devices || !get_display || !query_devices(16, devices, &count))
        skip();
    for (int i = 0; i < count; i++) {
        EGLDisplay display = get_display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
            continue;
        EGLContext context = eglCreateContext(display, NULL, EGL_NO_CONTEXT, version);
        if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
            return;
    }
    skip();
}

static void stop_opengl(void)
{
    EGLDisplay display = eglGetCurrentDisplay();
    EGLContext context = eglGetCurrentContext();
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
}

#define FIND(type, name) (type) eglGetProcAddress(name)
static void find_functions(void)
{
    create_program = FIND(PFNGLCREATESHADERPROGRAMVPROC, "glCreateShaderProgramv");
    get_program = FIND(PFNGLGETPROGRAMIVPROC, "glGetProgramiv");
    use_program = FIND(PFNGLUSEPROGRAMPROC, "glUseProgram");
    delete_program = FIND(PFNGLDELETEPROGRAMPROC, "glDeleteProgram");
    dispatch = FIND(PFNGLDISPATCHCOMPUTEPROC, "glDispatchCompute");
    memory_barrier = FIND(PFNGLMEMORYBARRIERPROC, "glMemoryBarrier");
    create_buffers = FIND(PFNGLGENBUFFERSPROC, "glGenBuffers");
    delete_buffers = FIND(PFNGLDELETEBUFFERSPROC, "glDeleteBuffers");
    bind_buffer = FIND(PFNGLBINDBUFFERPROC, "glBindBuffer");
    bind_storage = FIND(PFNGLBINDBUFFERBASEPROC, "glBindBufferBase");
    buffer_data = FIND(PFNGLBUFFERDATAPROC, "glBufferData");
    read_buffer = FIND(PFNGLGETBUFFERSUBDATAPROC, "glGetBufferSubData");
}

static void run_shader(const char *text)
{
    GLint is_linked = 0;
    const GLuint program = create_program(GL_COMPUTE_SHADER, 1, &text);
    get_program(program, GL_LINK_STATUS, &is_linked);
    check(!is_linked, "shader");
    use_program(program);
    dispatch(N, 1, 1);
    delete_program(program); // once it is no longer in use
}

// A plan, and two buffers behind each other in the program's memory.
static kallima_plan *prepare(GLuint memory, kallima_device_arrays *arrays)
{
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    const kallima_desc desc = { .rank = 1, .n = { N } };

    check(kallima_opengl_adopt(&device, NULL), "adopt");
    check(kallima_opengl_wrap(&arrays->in[0], device, memory, HEADER, BYTES), "wrap");
    check(kallima_opengl_wrap(&arrays->out[0], device, memory, HEADER + BYTES, BYTES),
          "wrap");
    check(kallima_plan_create(&plan, device, &desc, NULL), "plan");
    kallima_device_close(&device); // plan and buffers keep it
    return plan;
}

// Each command sees what the one before it wrote, where there is a barrier between them. After
// a transform shaders need none.
static void run(const GLuint memory[2], const kallima_plan *plan,
                const kallima_device_arrays *arrays)
{
    bind_storage(GL_SHADER_STORAGE_BUFFER, 0, memory[0]);
    run_shader(signal_text);
    memory_barrier(GL_SHADER_STORAGE_BARRIER_BIT);
    check(kallima_plan_execute(plan, arrays), "execute");
    bind_storage(GL_SHADER_STORAGE_BUFFER, 0, memory[0]); // the transform bound its own
    bind_storage(GL_SHADER_STORAGE_BUFFER, 1, memory[1]);
    run_shader(power_text);
    memory_barrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    bind_buffer(GL_COPY_READ_BUFFER, memory[1]);
    read_buffer(GL_COPY_READ_BUFFER, 0, sizeof out, out);
}

// The largest distance of sqrt(out[k]) from |sum over j of x[j] * exp(-2*pi*i * j*k / N)|.
static double largest_error(void)
{
    double largest = 0.0;
    for (int k = 0; k < N; k++) {
        double re = 0.0, im = 0.0;
        for (int j = 0; j < N; j++) {
            const double angle = -6.283185307179586 * (j * k % N) / N;
            const double x = sin(0.1 * j), y = cos(0.3 * j);
            re += x * cos(angle) - y * sin(angle);
            im += x * sin(angle) + y * cos(angle);
        }
        largest = fmax(largest, fabs(sqrt(out[k]) - hypot(re, im)));
    }
    return largest;
}

int main(void)
{
    GLuint memory[2];
    kallima_device_arrays arrays = { .workspace = NULL };

    start_opengl();
    find_functions();
    create_buffers(2, memory);
    bind_buffer(GL_SHADER_STORAGE_BUFFER, memory[0]);
    buffer_data(GL_SHADER_STORAGE_BUFFER, HEADER + 2 * BYTES, NULL, GL_DYNAMIC_COPY);
    bind_buffer(GL_SHADER_STORAGE_BUFFER, memory[1]);
    buffer_data(GL_SHADER_STORAGE_BUFFER, sizeof out, NULL, GL_DYNAMIC_READ);

    kallima_plan *plan = prepare(memory[0], &arrays);
    run(memory, plan, &arrays);
    const double error = largest_error();
    printf("largest error: %.1e\n", error);

    kallima_plan_destroy(&plan);
    kallima_buffer_destroy(&arrays.in[0]);
    kallima_buffer_destroy(&arrays.out[0]);
    delete_buffers(2, memory);
    stop_opengl();
    return error < 1e-2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
