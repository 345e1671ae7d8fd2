// SPDX-License-Identifier: MIT
// The functions of EGL and OpenGL by name, and a thread's current context.
#include "device/opengl/driver.h"

#include <dlfcn.h>
#include <string.h>

enum { EGL_DRAW = 0x3059, EGL_READ = 0x305A };

struct function {
    const char *name;
    size_t place; // of the pointer in struct gl_api
};

#define EGL_ROW(type, name, arguments) { "egl" #name, offsetof(struct gl_api, egl.name) },
#define GL_ROW(type, name, arguments)  { "gl" #name, offsetof(struct gl_api, name) },
static const struct function egl_functions[] = { EGL_FUNCTIONS(EGL_ROW) };
static const struct function functions[] = { GL_FUNCTIONS(GL_ROW) };
static const struct function optional_functions[] = { EGL_EXTENSION_FUNCTIONS(
    EGL_ROW) GL_DESKTOP_FUNCTIONS(GL_ROW) GL_ES_FUNCTIONS(GL_ROW) };
#undef EGL_ROW
#undef GL_ROW

static struct gl_api api;
static bool is_loaded;

static bool keep(const struct function *function, void *symbol)
{
    memcpy((char *)&api + function->place, &symbol, sizeof symbol);
    return symbol != NULL;
}

// The library stays loaded: drivers do not survive being unloaded.
static void load_once(void)
{
    void *library = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
    bool is_whole = library != NULL;
    for (size_t i = 0; is_whole && i < KAL_COUNT(egl_functions); i++)
        is_whole = keep(&egl_functions[i], dlsym(library, egl_functions[i].name));
    for (size_t i = 0; is_whole && i < KAL_COUNT(functions); i++)
        is_whole = keep(&functions[i], api.egl.GetProcAddress(functions[i].name));
    for (size_t i = 0; is_whole && i < KAL_COUNT(optional_functions); i++)
        keep(&optional_functions[i], api.egl.GetProcAddress(optional_functions[i].name));
    is_loaded = is_whole;
}

const struct gl_api *kal_gl_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return is_loaded ? &api : NULL;
}

bool kal_gl_enter(const struct gl_api *gl, const struct gl_display *display,
                  void *context, struct gl_caller *caller)
{
    *caller = (struct gl_caller){
        .api = gl->egl.QueryAPI(),
        .display = gl->egl.GetCurrentDisplay(),
        .draw = gl->egl.GetCurrentSurface(EGL_DRAW),
        .read = gl->egl.GetCurrentSurface(EGL_READ),
        .context = gl->egl.GetCurrentContext(),
    };
    return gl->egl.BindAPI(display->is_es ? EGL_OPENGL_ES_API : EGL_OPENGL_API) ==
               EGL_TRUE &&
           gl->egl.MakeCurrent(display->handle, NULL, NULL, context) == EGL_TRUE;
}

void kal_gl_leave(const struct gl_api *gl, const struct gl_display *display,
                  const struct gl_caller *caller)
{
    gl->egl.MakeCurrent(display->handle, NULL, NULL, NULL);
    gl->egl.BindAPI(caller->api);
    if (caller->context)
        gl->egl.MakeCurrent(caller->display, caller->draw, caller->read, caller->context);
}

#define NAME(code)  \
    {               \
        code, #code \
    }
static const struct {
    unsigned code;
    const char *name;
} errors[] = {
    NAME(GL_INVALID_ENUM),  NAME(GL_INVALID_VALUE), NAME(GL_INVALID_OPERATION),
    NAME(GL_OUT_OF_MEMORY), NAME(GL_CONTEXT_LOST),
};
#undef NAME

static const char *error_name(unsigned code)
{
    for (size_t i = 0; i < KAL_COUNT(errors); i++) {
        if (errors[i].code == code)
            return errors[i].name;
    }
    return "unknown error";
}

// A lost context tells of it for ever.
static unsigned take_error(const struct gl_api *gl)
{
    const unsigned first = gl->GetError();
    unsigned next = first;
    while (next && next != GL_CONTEXT_LOST)
        next = gl->GetError();
    return first;
}

kallima_status kal_gl_check(const struct gl_device *device, const char *call)
{
    const unsigned code = take_error(device->gl);
    if (!code)
        return KALLIMA_OK;
    return kal_fail(&device->base.host,
                    code == GL_OUT_OF_MEMORY ? KALLIMA_E_MEMORY : KALLIMA_E_DEVICE,
                    "opengl: %s: %s (0x%04x)", call, error_name(code), code);
}

kallima_status kal_gl_fail(const struct gl_device *device, const char *call,
                           const char *what)
{
    const kallima_status status = kal_gl_check(device, call);
    return status ? status
                  : kal_fail(&device->base.host, KALLIMA_E_DEVICE, "opengl: %s: %s", call,
                             what);
}
