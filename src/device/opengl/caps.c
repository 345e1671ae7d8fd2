// SPDX-License-Identifier: MIT
// Which devices there are, and what they can do.
#include "base/place.h"
#include "device/opengl/driver.h"
#include "device/processors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// OpenGL itself does not tell how many processors there are, nor how wide they are.
enum { PROCESSORS = 16, GPU_LANES = 32, SOFTWARE_LANES = 8 };

static bool has_extension(const char *list, const char *name)
{
    return list && strstr(list, name);
}

// Add the devices that are imitations, or those that are not.
static int add_devices(const struct gl_api *gl, bool software,
                       struct gl_display displays[GL_MAX_DEVICES], int count)
{
    void *devices[GL_MAX_DEVICES];
    int32_t present = 0;
    if (!gl->egl.QueryDevicesEXT(GL_MAX_DEVICES, devices, &present))
        return count;
    for (int32_t i = 0; i < present && count < GL_MAX_DEVICES; i++) {
        const char *extensions = gl->egl.QueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        void *display;
        if (has_extension(extensions, "EGL_MESA_device_software") != software)
            continue;
        display = gl->egl.GetPlatformDisplayEXT(EGL_PLATFORM_DEVICE, devices[i], NULL);
        if (display)
            displays[count++] = (struct gl_display){ display, software, false };
    }
    return count;
}

int kal_gl_displays(const struct gl_api *gl, struct gl_display displays[GL_MAX_DEVICES])
{
    const char *extensions = gl ? gl->egl.QueryString(NULL, EGL_EXTENSIONS) : NULL;
    void *display;
    int count = 0;

    if (has_extension(extensions, "EGL_EXT_platform_device") &&
        has_extension(extensions, "EGL_EXT_device_"))
        count = add_devices(gl, true, displays, add_devices(gl, false, displays, 0));
    if (count > 0 || !has_extension(extensions, "EGL_MESA_platform_surfaceless"))
        return count;
    display = gl->egl.GetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS, NULL, NULL);
    if (display)
        displays[count++] = (struct gl_display){ display, false, false };
    return count;
}

// clang-format off
static const struct {
    unsigned api;
    int32_t config[5], context[7];
} versions[] = { // by whether it is OpenGL ES
    { EGL_OPENGL_API,
      { EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE },
      { EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
        EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE } },
    { EGL_OPENGL_ES_API,
      { EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE },
      { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE } },
};
// clang-format on

void *kal_gl_context_create(const struct gl_api *gl, const struct gl_display *display)
{
    const unsigned caller_api = gl->egl.QueryAPI();
    void *config = NULL, *context = NULL;
    int32_t count = 0;

    if (!gl->egl.Initialize(display->handle, NULL, NULL) ||
        !gl->egl.BindAPI(versions[display->is_es].api))
        return NULL;
    if (!gl->egl.ChooseConfig(display->handle, versions[display->is_es].config, &config,
                              1, &count) ||
        count == 0)
        config = NULL;
    context = gl->egl.CreateContext(display->handle, config, NULL,
                                    versions[display->is_es].context);
    gl->egl.BindAPI(caller_api);
    return context;
}

// Cut to the capacity, empty if the driver does not say.
static void copy_text(const struct gl_api *gl, unsigned what, char *out, size_t capacity)
{
    const unsigned char *text = gl->GetString(what);
    snprintf(out, capacity, "%s", text ? (const char *)text : "");
}

static bool is_nvidia(const struct gl_api *gl)
{
    char vendor[64];
    copy_text(gl, GL_VENDOR, vendor, sizeof vendor);
    return strstr(vendor, "NVIDIA") != NULL;
}

static int number(const struct gl_api *gl, unsigned what)
{
    int value = 0;
    gl->GetIntegerv(what, &value);
    return value;
}

static bool offers(const struct gl_api *gl, const char *extension)
{
    const int count = number(gl, GL_NUM_EXTENSIONS);
    bool is_there = false;
    for (int i = 0; i < count && !is_there; i++) {
        const unsigned char *name = gl->GetStringi(GL_EXTENSIONS, (unsigned)i);
        is_there = name && strcmp((const char *)name, extension) == 0;
    }
    return is_there;
}

static bool has_pointers(const struct gl_api *gl)
{
    return gl->MakeNamedBufferResidentNV && gl->GetNamedBufferParameterui64vNV &&
           gl->Uniformui64NV && offers(gl, "GL_NV_shader_buffer_load") &&
           offers(gl, "GL_NV_gpu_shader5");
}

static bool is_imitation(const char *renderer)
{
    static const char *const names[] = { "llvmpipe", "softpipe", "SwiftShader",
                                         "Software" };
    for (size_t i = 0; i < KAL_COUNT(names); i++) {
        if (strstr(renderer, names[i]))
            return true;
    }
    return false;
}

void kal_gl_describe(const struct gl_api *gl, kallima_device_info *info)
{
    *info = (kallima_device_info){ .is_software = 0 };
    copy_text(gl, GL_RENDERER, info->name, sizeof info->name);
    copy_text(gl, GL_VERSION, info->driver, sizeof info->driver);
    // OpenGL has doubles since version 4.0. NVIDIA's compiler, driver 580, makes floats of those
    // that are `precise`, and of others in long kernels: errors of 5e-8 on an NVIDIA H200.
    info->has_f64 = !kal_gl_is_es(info) && !is_nvidia(gl);
    info->is_software = is_imitation(info->name);
    info->lanes_f32 = info->is_software ? SOFTWARE_LANES : GPU_LANES;
}

bool kal_gl_is_es(const kallima_device_info *info)
{
    return strncmp(info->driver, "OpenGL ES", 9) == 0;
}

static bool probe(const struct gl_api *gl, const struct gl_display *display,
                  kallima_device_info *info)
{
    struct gl_caller caller;
    void *context = kal_gl_context_create(gl, display);

    if (!context)
        return false;
    const bool is_current = kal_gl_enter(gl, display, context, &caller);
    if (is_current)
        kal_gl_describe(gl, info);
    kal_gl_leave(gl, display, &caller);
    gl->egl.DestroyContext(display->handle, context);
    info->is_software |= display->is_software;
    return is_current;
}

// OpenGL if there is one of version 4.3, else OpenGL ES; which tests may ask for.
static bool probe_apis(const struct gl_api *gl, struct gl_display *display,
                       kallima_device_info *info)
{
    display->is_es = kal_switch_is_on("KALLIMA_OPENGL_ES");
    if (!display->is_es && probe(gl, display, info))
        return true;
    display->is_es = true;
    return probe(gl, display, info);
}

static struct {
    kallima_device_info info;
    struct gl_display display;
} present[GL_MAX_DEVICES];
static int present_count;

static void probe_all(void)
{
    const struct gl_api *gl = kal_gl_api();
    struct gl_display displays[GL_MAX_DEVICES];
    const int count = kal_gl_displays(gl, displays);

    for (int i = 0; i < count; i++) {
        kallima_device_info *info = &present[present_count].info;
        if (!probe_apis(gl, &displays[i], info))
            continue;
        snprintf(info->selector, sizeof info->selector, "opengl:%d", present_count);
        present[present_count++].display = displays[i];
    }
}

// A context is made of each once, to ask it.
bool kal_gl_find(int index, kallima_device_info *info, struct gl_display *display)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, probe_all);
    if (index < 0 || index >= present_count)
        return false;
    *info = present[index].info;
    *display = present[index].display;
    return true;
}

static int number_of(const struct gl_api *gl, unsigned what, unsigned i)
{
    int value = 0;
    gl->GetIntegeri_v(what, i, &value);
    return value;
}

// Kernels count elements, of four bytes at least, in 32 bits. Behind pointers there is no block.
static uint64_t bound_bytes(const struct gl_api *gl, enum kal_language language)
{
    int64_t bytes = UINT32_MAX;
    if (language != KAL_LANGUAGE_GLSL_POINTERS)
        gl->GetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &bytes);
    return (uint64_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX);
}

// With an extension in OpenGL ES; of no bits where it stands still.
static bool has_clock(const struct gl_device *device)
{
    int bits = 0;
    if (!device->display.is_es || offers(device->gl, "GL_EXT_disjoint_timer_query"))
        device->gl->GetQueryiv(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, &bits);
    return bits > 0;
}

// On an NVIDIA H200, driver 580, kernels move 4.2e12 bytes/s from one buffer to another
// that lie in memory of Vulkan's, and 2.1e12 between others, whatever their usage or
// storage.
static bool imports(const struct gl_device *device)
{
    const struct gl_api *gl = device->gl;
    return is_nvidia(gl) && !device->display.is_es && gl->GetUnsignedBytei_vEXT &&
           gl->CreateMemoryObjectsEXT && gl->DeleteMemoryObjectsEXT &&
           gl->ImportMemoryFdEXT && gl->BufferStorageMemEXT &&
           offers(gl, "GL_EXT_memory_object_fd");
}

// A caller's buffers may be sparse, and then have no address.
static enum kal_language find_language(const struct gl_device *device)
{
    if (device->display.is_es)
        return KAL_LANGUAGE_ESSL;
    return has_pointers(device->gl) && !device->is_adopted ? KAL_LANGUAGE_GLSL_POINTERS
                                                           : KAL_LANGUAGE_GLSL;
}

void kal_gl_fill_caps(struct gl_device *device)
{
    const struct gl_api *gl = device->gl;
    const int invocations = number(gl, GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
    const int width = number_of(gl, GL_MAX_COMPUTE_WORK_GROUP_SIZE, 0);
    const uint64_t group_bytes = (uint64_t)number(gl, GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);

    device->bound_bytes = bound_bytes(gl, find_language(device));
    device->bound_offset =
        (uint64_t)number(gl, GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
    device->has_clock = has_clock(device);
    device->most_rows = number_of(gl, GL_MAX_COMPUTE_WORK_GROUP_COUNT, 1);
    device->base.caps = (struct kal_caps){
        .has_f64 = device->info.has_f64,
        .threads = 1,
        .lanes_f32 = device->info.lanes_f32,
        .near_bytes = group_bytes,
        .language = find_language(device),
        .processors = PROCESSORS,
        .group_lanes = width < invocations ? width : invocations,
        .row_groups = number_of(gl, GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0),
        .kernel_slots = number(gl, GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS),
        .group_bytes = group_bytes,
        .buffer_bytes = device->bound_bytes,
        .is_slow_to_wake = !device->info.is_software,
    };
    device->imports = imports(device);
    // OpenGL promises nobody that a group goes on while others wait for it: NVIDIA's GPUs do,
    // by whose extensions kernels take pointers.
    device->base.caps.has_forward_progress = kal_gl_takes_pointers(device);
    if (offers(gl, "GL_NV_shader_thread_group"))
        kal_describe_nvidia(&device->base.caps, number(gl, GL_SM_COUNT_NV),
                            number(gl, GL_WARPS_PER_SM_NV), true);
}

void kal_gl_key(const kallima_device *base, char *key, size_t capacity)
{
    const struct gl_device *device = (const struct gl_device *)base;
    const size_t length = strlen(key);
    snprintf(key + length, capacity - length, "opengl|%s|%s", device->info.name,
             device->info.driver);
}
