// SPDX-License-Identifier: MIT
// What is called of EGL and OpenGL, declared here so that no header of theirs is needed. Numbers
// and types are those of the Khronos registry, which never change.
#ifndef KAL_DEVICE_OPENGL_API_H_
#define KAL_DEVICE_OPENGL_API_H_

#include <stddef.h>
#include <stdint.h>

enum {
    EGL_TRUE = 1,
    EGL_NONE = 0x3038,
    EGL_SURFACE_TYPE = 0x3033,
    EGL_RENDERABLE_TYPE = 0x3040,
    EGL_EXTENSIONS = 0x3055,
    EGL_CONTEXT_MAJOR_VERSION = 0x3098,
    EGL_OPENGL_ES_API = 0x30A0,
    EGL_OPENGL_API = 0x30A2,
    EGL_CONTEXT_MINOR_VERSION = 0x30FB,
    EGL_CONTEXT_OPENGL_PROFILE_MASK = 0x30FD,
    EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT = 1,
    EGL_OPENGL_BIT = 8,
    EGL_OPENGL_ES3_BIT = 0x40,
    EGL_PLATFORM_DEVICE = 0x313F,
    EGL_PLATFORM_SURFACELESS = 0x31DD,
};

enum {
    GL_MAP_READ_BIT = 1,
    GL_TRUE = 1,
    GL_SHADER_GLOBAL_ACCESS_BARRIER_BIT_NV = 0x00000010,
    GL_INVALID_ENUM = 0x0500,
    GL_INVALID_VALUE = 0x0501,
    GL_INVALID_OPERATION = 0x0502,
    GL_OUT_OF_MEMORY = 0x0505,
    GL_CONTEXT_LOST = 0x0507,
    GL_UNSIGNED_INT = 0x1405,
    GL_VENDOR = 0x1F00,
    GL_RENDERER = 0x1F01,
    GL_VERSION = 0x1F02,
    GL_EXTENSIONS = 0x1F03,
    GL_MAJOR_VERSION = 0x821B,
    GL_MINOR_VERSION = 0x821C,
    GL_NUM_EXTENSIONS = 0x821D,
    GL_R32UI = 0x8236,
    GL_PROGRAM_BINARY_RETRIEVABLE_HINT = 0x8257,
    GL_PROGRAM_BINARY_LENGTH = 0x8741,
    GL_BUFFER_SIZE = 0x8764,
    GL_QUERY_COUNTER_BITS = 0x8864,
    GL_QUERY_RESULT = 0x8866,
    GL_READ_WRITE = 0x88BA,
    GL_DYNAMIC_COPY = 0x88EA,
    GL_COMPILE_STATUS = 0x8B81,
    GL_LINK_STATUS = 0x8B82,
    GL_RED_INTEGER = 0x8D94,
    GL_TIMESTAMP = 0x8E28,
    GL_BUFFER_GPU_ADDRESS_NV = 0x8F1D,
    GL_COPY_READ_BUFFER = 0x8F36,
    GL_COPY_WRITE_BUFFER = 0x8F37,
    GL_GPU_DISJOINT_EXT = 0x8FBB,
    GL_SHADER_STORAGE_BUFFER = 0x90D2,
    GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS = 0x90DB,
    GL_MAX_SHADER_STORAGE_BLOCK_SIZE = 0x90DE,
    GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT = 0x90DF,
    GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS = 0x90EB,
    GL_COMPUTE_SHADER = 0x91B9,
    GL_MAX_COMPUTE_WORK_GROUP_COUNT = 0x91BE,
    GL_MAX_COMPUTE_WORK_GROUP_SIZE = 0x91BF,
    GL_MAX_COMPUTE_SHARED_MEMORY_SIZE = 0x8262,
    GL_UNIFORM = 0x92E1,
    GL_ACTIVE_RESOURCES = 0x92F5,
    GL_LOCATION = 0x930E,
    GL_WARPS_PER_SM_NV = 0x933A,
    GL_SM_COUNT_NV = 0x933B,
    GL_HANDLE_TYPE_OPAQUE_FD_EXT = 0x9586,
    GL_DEVICE_UUID_EXT = 0x9597,
    GL_BUFFER_UPDATE_BARRIER_BIT = 0x00000200,
    GL_SHADER_STORAGE_BARRIER_BIT = 0x00002000,
};

// clang-format off
// Without the prefix `egl`: by name from libEGL, then what extensions add.
#define EGL_FUNCTIONS(X)                                                                  \
    X(void *, GetProcAddress, (const char *))                                             \
    X(const char *, QueryString, (void *display, int32_t))                                \
    X(int32_t, GetError, (void))                                                          \
    X(unsigned, Initialize, (void *display, int32_t *major, int32_t *minor))              \
    X(unsigned, BindAPI, (unsigned))                                                      \
    X(unsigned, QueryAPI, (void))                                                         \
    X(unsigned, ChooseConfig, (void *display, const int32_t *attributes, void **configs,  \
                               int32_t capacity, int32_t *count))                         \
    X(void *, CreateContext, (void *display, void *config, void *shared,                  \
                              const int32_t *attributes))                                 \
    X(unsigned, DestroyContext, (void *display, void *context))                           \
    X(unsigned, MakeCurrent, (void *display, void *draw, void *read, void *context))      \
    X(void *, GetCurrentContext, (void))                                                  \
    X(void *, GetCurrentDisplay, (void))                                                  \
    X(void *, GetCurrentSurface, (int32_t))                                               \
    X(unsigned, ReleaseThread, (void))
#define EGL_EXTENSION_FUNCTIONS(X)                                                        \
    X(void *, GetPlatformDisplayEXT, (unsigned, void *native, const int32_t *attributes)) \
    X(unsigned, QueryDevicesEXT, (int32_t capacity, void **devices, int32_t *count))      \
    X(const char *, QueryDeviceStringEXT, (void *device, int32_t))

// Without the prefix `gl`: of OpenGL 4.3 and OpenGL ES 3.1 alike, then what one of them has.
#define GL_FUNCTIONS(X)                                                                   \
    X(const unsigned char *, GetString, (unsigned))                                       \
    X(const unsigned char *, GetStringi, (unsigned, unsigned))                            \
    X(void, GetIntegerv, (unsigned, int *))                                               \
    X(void, GetIntegeri_v, (unsigned, unsigned, int *))                                   \
    X(void, GetInteger64v, (unsigned, int64_t *))                                         \
    X(unsigned, GetError, (void))                                                         \
    X(void, Flush, (void))                                                                \
    X(void, Finish, (void))                                                               \
    X(void, GenBuffers, (int, unsigned *))                                                \
    X(void, DeleteBuffers, (int, const unsigned *))                                       \
    X(void, BindBuffer, (unsigned, unsigned))                                             \
    X(void, BindBufferRange, (unsigned, unsigned, unsigned, ptrdiff_t, ptrdiff_t))        \
    X(unsigned char, IsBuffer, (unsigned))                                                \
    X(void, GetBufferParameteri64v, (unsigned, unsigned, int64_t *))                      \
    X(void, BufferData, (unsigned, ptrdiff_t, const void *, unsigned))                    \
    X(void, BufferSubData, (unsigned, ptrdiff_t, ptrdiff_t, const void *))                \
    X(void *, MapBufferRange, (unsigned, ptrdiff_t, ptrdiff_t, unsigned))                 \
    X(unsigned char, UnmapBuffer, (unsigned))                                             \
    X(void, CopyBufferSubData, (unsigned, unsigned, ptrdiff_t, ptrdiff_t, ptrdiff_t))     \
    X(unsigned, CreateShader, (unsigned))                                                 \
    X(void, ShaderSource, (unsigned, int, const char *const *, const int *))              \
    X(void, CompileShader, (unsigned))                                                    \
    X(void, GetShaderiv, (unsigned, unsigned, int *))                                     \
    X(void, GetShaderInfoLog, (unsigned, int, int *, char *))                             \
    X(void, DeleteShader, (unsigned))                                                     \
    X(unsigned, CreateProgram, (void))                                                    \
    X(void, ProgramParameteri, (unsigned, unsigned, int))                                 \
    X(void, AttachShader, (unsigned, unsigned))                                           \
    X(void, DetachShader, (unsigned, unsigned))                                           \
    X(void, LinkProgram, (unsigned))                                                      \
    X(void, GetProgramiv, (unsigned, unsigned, int *))                                    \
    X(void, GetProgramInfoLog, (unsigned, int, int *, char *))                            \
    X(void, GetProgramBinary, (unsigned, int, int *, unsigned *, void *))                 \
    X(void, ProgramBinary, (unsigned, unsigned, const void *, int))                       \
    X(void, GetProgramInterfaceiv, (unsigned, unsigned, unsigned, int *))                 \
    X(void, GetProgramResourceiv, (unsigned, unsigned, unsigned, int, const unsigned *,   \
                                   int, int *, int *))                                    \
    X(void, DeleteProgram, (unsigned))                                                    \
    X(void, UseProgram, (unsigned))                                                       \
    X(void, Uniform1ui, (int, unsigned))                                                  \
    X(void, DispatchCompute, (unsigned, unsigned, unsigned))                              \
    X(void, MemoryBarrier, (unsigned))                                                    \
    X(void, GenQueries, (int, unsigned *))                                                \
    X(void, DeleteQueries, (int, const unsigned *))                                       \
    X(void, GetQueryiv, (unsigned, unsigned, int *))
#define GL_DESKTOP_FUNCTIONS(X)                                                           \
    X(void, GetBufferSubData, (unsigned, ptrdiff_t, ptrdiff_t, void *))                   \
    X(void, ClearBufferSubData, (unsigned, unsigned, ptrdiff_t, ptrdiff_t, unsigned,      \
                                 unsigned, const void *))                                 \
    X(void, QueryCounter, (unsigned, unsigned))                                           \
    X(void, GetQueryObjectui64v, (unsigned, unsigned, uint64_t *))                        \
    X(void, GetUnsignedBytei_vEXT, (unsigned, unsigned, unsigned char *))                 \
    X(void, CreateMemoryObjectsEXT, (int, unsigned *))                                    \
    X(void, DeleteMemoryObjectsEXT, (int, const unsigned *))                              \
    X(void, ImportMemoryFdEXT, (unsigned, uint64_t, unsigned, int))                       \
    X(void, BufferStorageMemEXT, (unsigned, ptrdiff_t, unsigned, uint64_t))               \
    X(void, MakeNamedBufferResidentNV, (unsigned, unsigned))                              \
    X(void, GetNamedBufferParameterui64vNV, (unsigned, unsigned, uint64_t *))             \
    X(void, Uniformui64NV, (int, uint64_t))
#define GL_ES_FUNCTIONS(X)                                                                \
    X(void, QueryCounterEXT, (unsigned, unsigned))                                        \
    X(void, GetQueryObjectui64vEXT, (unsigned, unsigned, uint64_t *))
// clang-format on

#define API_MEMBER(type, name, arguments) type(*name) arguments;
struct egl_api {
    EGL_FUNCTIONS(API_MEMBER)
    EGL_EXTENSION_FUNCTIONS(API_MEMBER)
};
struct gl_api {
    struct egl_api egl;
    GL_FUNCTIONS(API_MEMBER)
    GL_DESKTOP_FUNCTIONS(API_MEMBER)
    GL_ES_FUNCTIONS(API_MEMBER)
};
#undef API_MEMBER

#endif
