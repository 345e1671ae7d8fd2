// SPDX-License-Identifier: MIT
#include "emit/dialect.h"

#include <string.h>

// clang-format off
// Languages with pointers, to registers and to memory.
#define POINTER_PRELUDE                                                                  \
    "#define UNROLL _Pragma(\"unroll\")\n"                                               \
    "#define EXACT\n"                                                                    \
    "#define CAST(type, value) ((type)(value))\n"                                        \
    "#define REGISTERS(name, count) C *name\n"                                           \
    "#define LOAD(memory, i) (memory)[i]\n"                                              \
    "#define STORE(memory, i, value) (memory)[i] = (value)\n"                            \
    "#define TWO_ROOTS(a, b, i) \\\n"                                                    \
    "    const FOUR a##_##b = ((ROOTS_ARE const FOUR *)roots)[(i) / 2]; \\\n"            \
    "    const C a = MAKE(a##_##b.x, a##_##b.y), b = MAKE(a##_##b.z, a##_##b.w);\n"

// A condition that is true, of which compilers do not know that: what stands before it is loaded
// before what it guards begins.
#define WHEN_LOADED_PTX                                                                  \
    "FUNCTION uint warp_lane(void)\n"                                                    \
    "{\n"                                                                                \
    "    uint lane;\n"                                                                   \
    "    asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"                               \
    "    return lane;\n"                                                                 \
    "}\n"                                                                                \
    "#define WHEN_LOADED if (warp_lane() < 32u)\n"
#define WHEN_LOADED_PLAIN "#define WHEN_LOADED\n"

// What kernels are written in: the subset of C that all languages share, and these macros.
#define COMMON_PRELUDE                                                                   \
    "#define ROOT(i) LOAD(roots, i)\n"                                                   \
    "#define MAP(i) LOAD(map, i)\n"                                                      \
    "#define MEET(meeting, a, b, i) { \\\n"                                              \
    "        C t[2]; t[0] = a; t[1] = b; meeting(t, ROOT(i)); a = t[0]; b = t[1]; \\\n"  \
    "    }\n"                                                                            \
    "\n"                                                                                 \
    "FUNCTION C add(C a, C b)\n"                                                         \
    "{\n"                                                                                \
    "    EXACT const C c = MAKE(a.x + b.x, a.y + b.y);\n"                                \
    "    return c;\n"                                                                    \
    "}\n"                                                                                \
    "FUNCTION C exchange(C a)\n"                                                         \
    "{\n"                                                                                \
    "    return MAKE(a.y, a.x);\n"                                                       \
    "}\n"                                                                                \
    "FUNCTION C multiply(C a, C b)\n"                                                    \
    "{\n"                                                                                \
    "    EXACT const C c = MAKE(FMA(a.x, b.x, -(a.y * b.y)), FMA(a.x, b.y, a.y * b.x));\n" \
    "    return c;\n"                                                                    \
    "}\n"                                                                                \
    "FUNCTION C multiply_conjugate(C a, C b)\n"                                          \
    "{\n"                                                                                \
    "    EXACT const C c = MAKE(FMA(a.x, b.x, a.y * b.y), FMA(a.y, b.x, -(a.x * b.y)));\n" \
    "    return c;\n"                                                                    \
    "}\n"                                                                                \
    "// Elements k and n/2-k of a packed real transform to coefficients k and n/2-k.\n"  \
    "FUNCTION void split(REGISTERS(v, 2), C w)\n"                                        \
    "{\n"                                                                                \
    "    const R a = LITERAL(0.5);\n"                                                    \
    "    EXACT const C e = MAKE(a * (v[0].x + v[1].x), a * (v[0].y - v[1].y));\n"        \
    "    EXACT const C o = MAKE(a * (v[0].y + v[1].y), a * (v[1].x - v[0].x));\n"        \
    "    const C t = multiply(o, w);\n"                                                  \
    "    v[0] = MAKE(e.x + t.x, e.y + t.y);\n"                                           \
    "    v[1] = MAKE(e.x - t.x, t.y - e.y);\n"                                           \
    "}\n"                                                                                \
    "// The reverse, parts exchanged.\n"                                                 \
    "FUNCTION void merge(REGISTERS(v, 2), C w)\n"                                        \
    "{\n"                                                                                \
    "    EXACT const C e = MAKE(v[0].x + v[1].x, v[0].y - v[1].y);\n"                    \
    "    EXACT const C o = multiply_conjugate(MAKE(v[0].x - v[1].x, v[0].y + v[1].y), w);\n" \
    "    v[0] = MAKE(e.y + o.x, e.x - o.y);\n"                                           \
    "    v[1] = MAKE(o.x - e.y, e.x + o.y);\n"                                           \
    "}\n"

#define CUDA_F32                                          \
    "typedef float R;\n"                                  \
    "typedef float2 C;\n"                                 \
    "typedef float4 FOUR;\n"                              \
    "#define LITERAL(x) x##f\n"                           \
    "#define MAKE(re, im) make_float2(re, im)\n"          \
    "#define FMA(a, b, c) fmaf(a, b, c)\n"               \
    "#define CLUSTER_PUT(place, value) \\\n"               \
    "    asm volatile(\"st.shared::cluster.v2.f32 [%0], {%1, %2};\" : : \"r\"(place), \\\n" \
    "        \"f\"((value).x), \"f\"((value).y) : \"memory\")\n"
#define CUDA_F64                                          \
    "typedef double R;\n"                                 \
    "typedef double2 C;\n"                                \
    "struct alignas(16) FOUR { double x, y, z, w; };\n"   \
    "#define LITERAL(x) x\n"                              \
    "#define MAKE(re, im) make_double2(re, im)\n"         \
    "#define FMA(a, b, c) fma(a, b, c)\n"                \
    "#define CLUSTER_PUT(place, value) \\\n"               \
    "    asm volatile(\"st.shared::cluster.v2.f64 [%0], {%1, %2};\" : : \"r\"(place), \\\n" \
    "        \"d\"((value).x), \"d\"((value).y) : \"memory\")\n"
#define CUDA_PRELUDE                                                                     \
    "typedef unsigned int uint;\n"                                                       \
    "typedef long long INDEX;\n"                                                         \
    "typedef unsigned long long ULONG;\n"                                                \
    "#define ZERO ((R)0)\n"                                                              \
    "#define FUNCTION static __device__ __forceinline__\n"                               \
    "#define KERNEL(name, lanes, resident) \\\n"                                                   \
    "    extern \"C\" __global__ void __launch_bounds__(lanes, resident) name\n"                   \
    "#define MEMORY(type, name) type *name\n"                                            \
    "#define TABLE(type, name) type *__restrict__ name\n"                                \
    "#define BIND(type, name)\n"                                                         \
    "#define TILE(type, name, count) \\\n"                                               \
    "    extern __shared__ __align__(16) unsigned char group_memory[]; \\\n"             \
    "    type *const name = (type *)group_memory;\n"                                     \
    "#define SHARED(type, name, count) __shared__ type name[count];\n"                   \
    "#define LOAD_SHARED(memory, i) __ldcg(&(memory)[i])\n"                              \
    "#define STORE_SHARED(memory, i, value) __stcg(&(memory)[i], value)\n"               \
    "#define TAKE(counters, i) atomicAdd(&(counters)[i], 1u)\n"                          \
    "#define PEEK(counters, i) ((volatile uint *)counters)[i]\n"                         \
    "// What is loaded as shared passes by the cache that a fence would empty.\n"        \
    "#define ACQUIRE asm volatile(\"\" : : : \"memory\")\n"                               \
    "#if __CUDA_ARCH__ >= 700\n"                                                         \
    "#define RELEASE(counters, i) \\\n"                                                   \
    "    asm volatile(\"red.release.gpu.global.add.u32 [%0], 1;\" : : \\\n"               \
    "        \"l\"(&(counters)[i]) : \"memory\")\n"                                       \
    WHEN_LOADED_PTX                                                                      \
    "#else\n"                                                                            \
    "#define RELEASE(counters, i) __threadfence(); TAKE(counters, i)\n"                  \
    WHEN_LOADED_PLAIN                                                                    \
    "#endif\n"                                                                           \
    "#define BARRIER_ALL __syncthreads()\n"                                              \
    "#define BARRIER_ACQUIRED BARRIER\n"                                                 \
    "#define ROOTS_ARE\n"                                                                \
    "#define LOAD_ONCE(memory, i) __ldcs(&(memory)[i])\n"                                \
    "#define STORE_ONCE(memory, i, value) __stcs(&(memory)[i], value)\n"                 \
    "// What was read has been used, so that there is nothing to wait for but the others.\n" \
    "#define CLUSTER_HAS_READ \\\n"                                                      \
    "    asm volatile(\"barrier.cluster.arrive.relaxed.aligned; \" \\\n"                   \
    "                 \"barrier.cluster.wait.aligned;\" : : : \"memory\")\n"              \
    "#define CLUSTER_BARRIER \\\n"                                                       \
    "    asm volatile(\"barrier.cluster.arrive.aligned; \" \\\n"                           \
    "                 \"barrier.cluster.wait.aligned;\" : : : \"memory\")\n"              \
    "#define CLUSTER_STORE(rank, at, value) { \\\n"                                      \
    "        uint place; \\\n"                                                           \
    "        asm volatile(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(place) : \\\n" \
    "            \"r\"((uint)__cvta_generic_to_shared(&tile[at])), \"r\"(rank)); \\\n"   \
    "        CLUSTER_PUT(place, value); \\\n"                                            \
    "    }\n"                                                                             \
    "#define LANE threadIdx.x\n"                                                         \
    "#define GROUP blockIdx.x\n"                                                         \
    "#define BARRIER __syncthreads()\n"

#define OPENCL_F32                                        \
    "typedef float R;\n"                                  \
    "typedef float2 C;\n"                                 \
    "typedef float4 FOUR;\n"                              \
    "#define LITERAL(x) x##f\n"                           \
    "#define MAKE(re, im) (float2)(re, im)\n"             \
    "#define PTX_TYPE \"f32\"\n"                          \
    "#define PTX_REGISTER \"f\"\n"
#define OPENCL_F64                                        \
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"     \
    "typedef double R;\n"                                 \
    "typedef double2 C;\n"                                \
    "typedef double4 FOUR;\n"                             \
    "#define LITERAL(x) x\n"                              \
    "#define MAKE(re, im) (double2)(re, im)\n"            \
    "#define PTX_TYPE \"f64\"\n"                          \
    "#define PTX_REGISTER \"d\"\n"
#define OPENCL_PRELUDE                                                                   \
    "#pragma OPENCL FP_CONTRACT OFF\n"                                                   \
    "typedef long INDEX;\n"                                                              \
    "typedef ulong ULONG;\n"                                                             \
    "#define ZERO ((R)0)\n"                                                              \
    "#define FMA(a, b, c) fma(a, b, c)\n"                                                \
    "#define FUNCTION static inline\n"                                                   \
    "#define KERNEL(name, lanes, resident) \\\n"                                                   \
    "    __kernel __attribute__((reqd_work_group_size(lanes, 1, 1))) void name\n"        \
    "#define MEMORY(type, name) __global type *name##_object, ulong name##_offset\n"     \
    "#define TABLE(type, name) \\\n"                                                     \
    "    __global type *restrict name##_object, ulong name##_offset\n"                   \
    "#define BIND(type, name) \\\n"                                                      \
    "    __global type *name = \\\n"                                                     \
    "        (__global type *)((__global char *)name##_object + name##_offset);\n"       \
    "#define TILE(type, name, count) __local type name[count];\n"                        \
    "#define SHARED(type, name, count) __local type name[count];\n"                      \
    "#define TAKE(counters, i) atomic_inc(&(counters)[i])\n"                             \
    "#ifdef NVIDIA_SM // the words of CUDA's functions, which OpenCL has not\n"          \
    "#define ACCESS(name, how) \\\n"                                                     \
    "    __attribute__((overloadable)) FUNCTION C load_##name(__global const C *from) \\\n"\
    "    { \\\n"                                                                         \
    "        R x, y; \\\n"                                                               \
    "        asm volatile(\"ld.global.\" how \".v2.\" PTX_TYPE \" {%0, %1}, [%2];\" \\\n"\
    "            : \"=\" PTX_REGISTER(x), \"=\" PTX_REGISTER(y) : \"l\"(from)); \\\n"    \
    "        return MAKE(x, y); \\\n"                                                    \
    "    } \\\n"                                                                         \
    "    __attribute__((overloadable)) FUNCTION R load_##name(__global const R *from) \\\n"\
    "    { \\\n"                                                                         \
    "        R x; \\\n"                                                                  \
    "        asm volatile(\"ld.global.\" how \".\" PTX_TYPE \" %0, [%1];\" \\\n"         \
    "            : \"=\" PTX_REGISTER(x) : \"l\"(from)); \\\n"                           \
    "        return x; \\\n"                                                             \
    "    } \\\n"                                                                         \
    "    __attribute__((overloadable)) FUNCTION void store_##name(__global C *to, C value) \\\n"\
    "    { \\\n"                                                                         \
    "        asm volatile(\"st.global.\" how \".v2.\" PTX_TYPE \" [%0], {%1, %2};\" \\\n"\
    "            : : \"l\"(to), PTX_REGISTER(value.x), PTX_REGISTER(value.y) : \"memory\"); \\\n"\
    "    } \\\n"                                                                         \
    "    __attribute__((overloadable)) FUNCTION void store_##name(__global R *to, R value) \\\n"\
    "    { \\\n"                                                                         \
    "        asm volatile(\"st.global.\" how \".\" PTX_TYPE \" [%0], %1;\" \\\n"         \
    "            : : \"l\"(to), PTX_REGISTER(value) : \"memory\"); \\\n"                 \
    "    }\n"                                                                            \
    "ACCESS(shared, \"cg\")\n"                                                           \
    "ACCESS(once, \"cs\")\n"                                                             \
    "#define LOAD_SHARED(memory, i) load_shared(&(memory)[i])\n"                         \
    "#define STORE_SHARED(memory, i, value) store_shared(&(memory)[i], value)\n"         \
    "#define LOAD_ONCE(memory, i) load_once(&(memory)[i])\n"                             \
    "#define STORE_ONCE(memory, i, value) store_once(&(memory)[i], value)\n"             \
    "#define PEEK(counters, i) ((volatile __global uint *)counters)[i]\n"                \
    "// What is loaded as shared passes by the cache that a fence would empty.\n"        \
    "#define ACQUIRE asm volatile(\"\" : : : \"memory\")\n"                              \
    "#if NVIDIA_SM >= 70\n"                                                              \
    "#define RELEASE(counters, i) \\\n"                                                  \
    "    asm volatile(\"red.release.gpu.global.add.u32 [%0], 1;\" : : \\\n"              \
    "        \"l\"(&(counters)[i]) : \"memory\")\n"                                      \
    "#else\n"                                                                            \
    "#define RELEASE(counters, i) \\\n"                                                  \
    "    asm volatile(\"membar.gl;\" : : : \"memory\"); TAKE(counters, i)\n"             \
    "#endif\n"                                                                           \
    WHEN_LOADED_PTX                                                                      \
    "#else\n"                                                                            \
    WHEN_LOADED_PLAIN                                                                    \
    "#define LOAD_SHARED LOAD\n"                                                         \
    "#define STORE_SHARED STORE\n"                                                       \
    "#define LOAD_ONCE LOAD\n"                                                           \
    "#define STORE_ONCE STORE\n"                                                         \
    "#define PEEK(counters, i) atomic_or(&(counters)[i], 0u)\n"                          \
    "#define ACQUIRE mem_fence(CLK_GLOBAL_MEM_FENCE)\n"                                  \
    "#define RELEASE(counters, i) ACQUIRE; TAKE(counters, i)\n"                          \
    "#endif\n"                                                                           \
    "#define BARRIER_ALL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"          \
    "#define BARRIER_ACQUIRED BARRIER\n"                                                 \
    "#define ROOTS_ARE __global\n"                                                       \
    "#define LANE ((uint)get_local_id(0))\n"                                             \
    "#define GROUP ((uint)get_group_id(0))\n"                                            \
    "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"

#define GLSL_EXACT                                                                       \
    "#define EXACT precise\n"                                                            \
    "#define FMA(a, b, c) fma(a, b, c)\n"
#define GLSL_VERSION "#version 430\n" GLSL_EXACT
// That of Vulkan where arrays are addresses: drivers check every index of a descriptor's array
// against its end, and those of an address not.
#define GLSL_ADDRESSES_VERSION                                                           \
    "#version 450\n"                                                                     \
    "#extension GL_EXT_buffer_reference : require\n"                                     \
    "#extension GL_EXT_buffer_reference_uvec2 : require\n" GLSL_EXACT
// Of doubles, and beside other passes, NVIDIA's compiler leaves some loops, and their
// arrays in memory.
#define GLSL_UNROLLED                                                                    \
    "#extension GL_EXT_control_flow_attributes : require\n"                              \
    "#define UNROLL [[unroll]]\n"
// That of OpenGL where arrays are pointers, of NVIDIA's extensions.
#define GLSL_POINTERS_VERSION                                                            \
    "#version 430\n"                                                                     \
    "#extension GL_NV_gpu_shader5 : require\n"                                           \
    "#extension GL_NV_shader_buffer_load : require\n" GLSL_EXACT
// That of OpenGL ES, whose version 3.1 knows neither of these by itself.
#define ESSL_VERSION                                                                     \
    "#version 310 es\n"                                                                  \
    "#ifdef GL_EXT_gpu_shader5\n"                                                        \
    "#extension GL_EXT_gpu_shader5 : require\n" GLSL_EXACT                               \
    "#else\n"                                                                            \
    "#define EXACT\n"                                                                    \
    "#define FMA(a, b, c) ((a) * (b) + (c))\n"                                           \
    "#endif\n"                                                                           \
    "precision highp float;\n"                                                           \
    "precision highp int;\n"                                                             \
    "#define const // the word is for what the compiler can compute\n"
#define GLSL_F32              \
    "#define R float\n"       \
    "#define C vec2\n"
#define GLSL_F64              \
    "#define R double\n"      \
    "#define C dvec2\n"
#define GLSL_PRELUDE                                                                     \
    "#define INDEX int\n"                                                                \
    "#define ZERO R(0)\n"                                                                \
    "#define LITERAL(x) R(x)\n"                                                          \
    "#define MAKE(re, im) C(re, im)\n"                                                   \
    "#define CAST(type, value) type(value)\n"                                            \
    "#define FUNCTION\n"                                                                 \
    "#ifndef UNROLL\n"                                                                   \
    "#define UNROLL\n"                                                                   \
    "#endif\n"                                                                           \
    "#define REGISTERS(name, count) inout C name[count]\n"                               \
    "#define TILE(type, name, count) shared type name[count];\n"                         \
    "#define KERNEL(name, lanes, resident) \\\n"                                         \
    "    layout(local_size_x = lanes) in; \\\n"                                          \
    "    void main()\n"                                                                  \
    "#define LOAD(memory, i) memory(i)\n"                                                \
    "#define STORE(memory, i, value) memory(i) = (value)\n"                              \
    "#define TWO_ROOTS(a, b, i) const C a = ROOT(i), b = ROOT(i + 1);\n"                 \
    "#define WHEN_LOADED if (gl_NumWorkGroups.x != 0u)\n"                                \
    "#define LANE gl_LocalInvocationIndex\n"                                             \
    "// Groups are launched in rows; a second launch has the last ones.\n"               \
    "#define GROUP \\\n"                                                                 \
    "    (first_group + gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x)\n"
#define GLSL_LAUNCH                                                                      \
    "#ifdef VULKAN\n"                                                                    \
    "layout(push_constant) uniform launch { uint offsets[15], first_group; };\n"         \
    "#define OFFSET(name, number) uint name = offsets[number];\n"                        \
    "#else\n"                                                                            \
    "layout(location = 15) uniform uint first_group;\n"                                  \
    "#define OFFSET(name, number) layout(location = number) uniform uint name;\n"        \
    "#endif\n"                                                                           \
    "#define BARRIER { memoryBarrierShared(); barrier(); }\n"                            \
    "#ifndef BARRIER_ALL\n"                                                              \
    "#define BARRIER_ALL { memoryBarrier(); barrier(); }\n"                              \
    "#endif\n"
// In SPIR-V barrier() itself orders what a group shares; a fence beside it costs time.
#define GLSL_ADDRESSES_LAUNCH                                                            \
    "layout(push_constant) uniform launch { uvec2 addresses[15]; uint first_group; };\n" \
    "#define BARRIER barrier()\n"                                                        \
    "#ifndef BARRIER_ALL\n"                                                              \
    "#define BARRIER_ALL { groupMemoryBarrier(); barrier(); }\n"                         \
    "#endif\n"
// What groups of a launch leave to each other.
#define GLSL_TICKETS                                                                     \
    "#define SHARED TILE\n"                                                              \
    "#define LOAD_SHARED LOAD\n"                                                         \
    "#define STORE_SHARED STORE\n"                                                       \
    "#define LOAD_ONCE LOAD\n"                                                           \
    "#define STORE_ONCE STORE\n"                                                         \
    "// Else what others stored could be loaded ahead of it.\n"                          \
    "#define BARRIER_ACQUIRED BARRIER_ALL\n"                                             \
    "// What is loaded as coherent passes by the cache that a fence would empty.\n"      \
    "#define ACQUIRE\n"
// With Vulkan's memory model.
#define GLSL_ADDRESSES_TICKETS                                                           \
    "#extension GL_KHR_memory_scope_semantics : require\n"                               \
    "#pragma use_vulkan_memory_model\n"                                                  \
    GLSL_UNROLLED GLSL_TICKETS                                                           \
    "#define BARRIER_ALL \\\n"                                                           \
    "    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, \\\n"                      \
    "        gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, \\\n"                \
    "        gl_SemanticsAcquireRelease)\n"                                              \
    "#define TAKE(counters, i) atomicAdd(counters(i), 1u)\n"                             \
    "#define PEEK(counters, i) atomicOr(counters(i), 0u)\n"                              \
    "#define RELEASE(counters, i) \\\n"                                                  \
    "    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, \\\n"                  \
    "        gl_SemanticsRelease | gl_SemanticsMakeAvailable); \\\n"                     \
    "    TAKE(counters, i)\n"
// By NVIDIA's extensions atomic functions take pointers.
#define GLSL_POINTERS_TICKETS                                                            \
    GLSL_TICKETS                                                                         \
    "#define BARRIER_ALL { groupMemoryBarrier(); barrier(); }\n"                         \
    "#define TAKE(counters, i) atomicAdd(counters##_at + int(i), 1u)\n"                  \
    "#define PEEK(counters, i) atomicOr(counters##_at + int(i), 0u)\n"                   \
    "#define RELEASE(counters, i) memoryBarrier(); TAKE(counters, i)\n"
// NVIDIA's compiler for OpenGL makes wrong code of some kernels on blocks whose loops it
// unrolls: planar lines of 1000 points and more, and convolutions, had errors of 0.01 to
// 0.5. Kept as loops they take up to ten times as long, and are right. Other compilers do
// not know the line, and pass it over.
#define GLSL_KEEPS_LOOPS "#pragma optionNV(unroll none)\n"
// OpenGL ES cannot paste names, so the array's name is that of a macro.
#define GLSL_SLOT(access)                                                                \
    "layout(std430, binding = $n) " access "buffer $a_block { $b $a_object[]; };\n"      \
    "OFFSET($a_offset, $n)\n"                                                            \
    "#define $a(i) $a_object[int($a_offset / $cu) + int(i)]\n"
#define GLSL_POINTERS_SLOT(access)                                                       \
    "layout(location = $n) " access "uniform $b *$a_at;\n"                               \
    "#define $a(i) $a_at[int(i)]\n"
// What says who sees an array stands at the member: ahead of the block glslang (12.0) loses it.
#define GLSL_ADDRESSES_SLOT(access)                                                      \
    "layout(std430, buffer_reference, buffer_reference_align = $c)\n"                    \
    "buffer $a_block { " access "$b object[]; };\n"                                      \
    "#define $a(i) $a_block(addresses[$n]).object[int(i)]\n"

// Arrays are raw buffers, so that one is seen as reals by one kernel and as pairs by another. The
// name of an entry's type is pasted to those of the functions that reach it.
#define HLSL_F32                                                                         \
    "typedef float R;\n"                                                                 \
    "typedef float2 C;\n"                                                                \
    "#define ZERO 0.0f\n"                                                                \
    "#define LITERAL(x) float(x)\n"                                                      \
    "#define MAKE(re, im) float2(re, im)\n"                                              \
    "#define FMA(a, b, c) mad(a, b, c)\n"                                                \
    "static const uint bytes_R = 4u, bytes_C = 8u;\n"                                    \
    "R read_R(ByteAddressBuffer memory, uint at) { return asfloat(memory.Load(at)); }\n" \
    "C read_C(ByteAddressBuffer memory, uint at) { return asfloat(memory.Load2(at)); }\n" \
    "R reread_R(RWByteAddressBuffer memory, uint at) { return asfloat(memory.Load(at)); }\n" \
    "C reread_C(RWByteAddressBuffer memory, uint at) { return asfloat(memory.Load2(at)); }\n" \
    "void write_R(RWByteAddressBuffer memory, uint at, R value) { memory.Store(at, asuint(value)); }\n" \
    "void write_C(RWByteAddressBuffer memory, uint at, C value) { memory.Store2(at, asuint(value)); }\n"
#define HLSL_F64                                                                         \
    "typedef double R;\n"                                                                \
    "typedef double2 C;\n"                                                               \
    "#define ZERO 0.0L\n"                                                                \
    "#define LITERAL(x) double(x)\n"                                                     \
    "#define MAKE(re, im) double2(re, im)\n"                                             \
    "#define FMA(a, b, c) ((a) * (b) + (c))\n"                                           \
    "static const uint bytes_R = 8u, bytes_C = 16u;\n"                                   \
    "R real_of(uint2 bits) { return asdouble(bits.x, bits.y); }\n"                       \
    "C pair_of(uint4 bits) { return MAKE(real_of(bits.xy), real_of(bits.zw)); }\n"       \
    "uint2 bits_of(R value) { uint low, high; asuint(value, low, high); return uint2(low, high); }\n" \
    "R read_R(ByteAddressBuffer memory, uint at) { return real_of(memory.Load2(at)); }\n" \
    "C read_C(ByteAddressBuffer memory, uint at) { return pair_of(memory.Load4(at)); }\n" \
    "R reread_R(RWByteAddressBuffer memory, uint at) { return real_of(memory.Load2(at)); }\n" \
    "C reread_C(RWByteAddressBuffer memory, uint at) { return pair_of(memory.Load4(at)); }\n" \
    "void write_R(RWByteAddressBuffer memory, uint at, R value) { memory.Store2(at, bits_of(value)); }\n" \
    "void write_C(RWByteAddressBuffer memory, uint at, C value)\n"                       \
    "{\n"                                                                                \
    "    memory.Store4(at, uint4(bits_of(value.x), bits_of(value.y)));\n"                \
    "}\n"
#define HLSL_PRELUDE                                                                     \
    "#define line line_of_group // the word is a keyword\n"                              \
    "#define INDEX int\n"                                                                \
    "#define CAST(type, value) type(value)\n"                                            \
    "#define EXACT precise\n"                                                            \
    "#define FUNCTION\n"                                                                 \
    "#define UNROLL [unroll]\n"                                                          \
    "#define REGISTERS(name, count) inout C name[count]\n"                               \
    "static const uint bytes_int = 4u;\n"                                                \
    "int read_int(ByteAddressBuffer memory, uint at) { return asint(memory.Load(at)); }\n" \
    "// Where each slot begins in its buffer, in bytes; the number of a launch's first group.\n" \
    "cbuffer launch : register(b0)\n"                                                    \
    "{\n"                                                                                \
    "    uint offset0, offset1, offset2, offset3, offset4, offset5, offset6, offset7;\n" \
    "    uint first_group;\n"                                                            \
    "};\n"                                                                               \
    "#define PLACE(type, number, i) (offset##number + uint(i) * bytes_##type)\n"         \
    "#define TABLE(type, name, number) \\\n"                                             \
    "    ByteAddressBuffer name##_object : register(t##number); \\\n"                    \
    "    type name##_load(int i) { return read_##type(name##_object, PLACE(type, number, i)); }\n" \
    "#define MEMORY(type, name, number) \\\n"                                            \
    "    RWByteAddressBuffer name##_object : register(u##number); \\\n"                  \
    "    type name##_load(int i) { return reread_##type(name##_object, PLACE(type, number, i)); } \\\n" \
    "    SHARE(type, name, number, name)\n"                                              \
    "#define SHARE(type, name, number, owner) \\\n"                                      \
    "    void name##_store(int i, type value) \\\n"                                      \
    "    { \\\n"                                                                         \
    "        write_##type(owner##_object, PLACE(type, number, i), value); \\\n"          \
    "    }\n"                                                                            \
    "#define TILE(type, name, count) groupshared type name[count];\n"                    \
    "#define KERNEL(name, lanes, resident) \\\n"                                         \
    "    [numthreads(lanes, 1, 1)] \\\n"                                                 \
    "    void name(uint own_lane : SV_GroupIndex, uint3 own_group : SV_GroupID)\n"       \
    "#define LOAD(memory, i) memory##_load(i)\n"                                         \
    "#define STORE(memory, i, value) memory##_store(i, value)\n"                         \
    "#define TWO_ROOTS(a, b, i) const C a = ROOT(i), b = ROOT(i + 1);\n"                 \
    WHEN_LOADED_PLAIN                                                                    \
    "#define LANE own_lane\n"                                                            \
    "// Groups are launched in rows as long as can be; a second launch has the last ones.\n" \
    "#define GROUP (first_group + own_group.y * 65535u + own_group.x)\n"                 \
    "#define BARRIER GroupMemoryBarrierWithGroupSync()\n"                                \
    "#define BARRIER_ALL AllMemoryBarrierWithGroupSync()\n"

// A codelet works in place on an array of registers.
#define KERNEL_CODELETS(registers, exact)                                           \
    .open = "FUNCTION void $f(" registers ")\n{\n",                                 \
    .close = "}\n",                                                        \
    .constant = "    const R $a = LITERAL($b$c);\n",                                 \
    .value = "    " exact "const R $a = $b;\n",                                     \
    .load = "    const R $b = v[$a].x, $c = v[$a].y;\n",                   \
    .store = "    v[$a] = MAKE($b, $c);\n",                                \
    .op = {                                                                \
        [KAL_OP_NEG]  = "-$a",                                             \
        [KAL_OP_ADD]  = "$a + $b",                                         \
        [KAL_OP_SUB]  = "$a - $b",                                         \
        [KAL_OP_MUL]  = "$a * $b",                                         \
        [KAL_OP_FMA]  = "FMA($a, $b, $c)",                                 \
        [KAL_OP_FMS]  = "FMA($a, $b, -$c)",                                \
        [KAL_OP_FNMA] = "FMA(-$a, $b, $c)",                                \
    }

static const struct kal_dialect dialects[] = {
    {
        .name     = "c",
        .prelude  =
            "// The macros decide on the type: vectors of any width, single or double.\n"
            "// Define V and all others before this text, or get plain doubles.\n"
            "#include <stddef.h>\n"
            "\n"
            "#ifndef V\n"
            "#include <math.h>\n"
            "#define V              double\n"
            "#define R              double\n"
            "#define LOAD(p)        (*(p))\n"
            "#define STORE(p, v)    (*(p) = (v))\n"
            "#define BROADCAST(s)   (s)\n"
            "#define CONSTANT(c)    (c)\n"
            "#define ADD(a, b)      ((a) + (b))\n"
            "#define SUB(a, b)      ((a) - (b))\n"
            "#define MUL(a, b)      ((a) * (b))\n"
            "#define NEG(a)         (-(a))\n"
            "#define FMA(a, b, c)   fma((a), (b), (c))\n"
            "#define FMS(a, b, c)   fma((a), (b), -(c))\n"
            "#define FNMA(a, b, c)  fma(-(a), (b), (c))\n"
            "#endif\n",
        .defaults =
            "// Both parts of a number, `at` elements away from xr and xi or yr and yi,\n"
            "// are loaded and stored together. w holds the twiddle factors 1, 2, ...\n"
            "#ifndef LOAD_PAIR\n"
            "#define LOAD_PAIR(re, im, xr, xi, at) \\\n"
            "    do {                              \\\n"
            "        (re) = LOAD((xr) + (at));     \\\n"
            "        (im) = LOAD((xi) + (at));     \\\n"
            "    } while (0)\n"
            "#endif\n"
            "#ifndef STORE_PAIR\n"
            "#define STORE_PAIR(yr, yi, at, re, im) \\\n"
            "    do {                               \\\n"
            "        STORE((yr) + (at), re);        \\\n"
            "        STORE((yi) + (at), im);        \\\n"
            "    } while (0)\n"
            "#endif\n"
            "#ifndef ROOT_RE\n"
            "#define ROOT_RE(w, k) BROADCAST((w)[2 * (k) - 2])\n"
            "#define ROOT_IM(w, k) BROADCAST((w)[2 * (k) - 1])\n"
            "#endif\n",
        .open     =
            "static inline void $f(const R *xr, const R *xi, ptrdiff_t xs,\n"
            "    R *yr, R *yi, ptrdiff_t ys)\n"
            "{\n",
        .open_twiddled =
            "static inline void $f(const R *xr, const R *xi, ptrdiff_t xs,\n"
            "    R *yr, R *yi, ptrdiff_t ys, const R *w)\n"
            "{\n",
        .close    = "}\n",
        .constant = "    const V $a = CONSTANT($b);\n",
        .value    = "    const V $a = $b;\n",
        .load     = "    V $b, $c; LOAD_PAIR($b, $c, xr, xi, $a * xs);\n",
        .factor   = { "ROOT_RE(w, $a)", "ROOT_IM(w, $a)" },
        .store    = "    STORE_PAIR(yr, yi, $a * ys, $b, $c);\n",
        .alone    = { "    const V $b = LOAD(xr + $a * xs);\n",
                      "    STORE(yr + $a * ys, $b);\n" },
        .coefficient = { "    STORE_REAL(yr, yi, ys, $a, $b);\n",
                         "    STORE_COEFFICIENT(yr, yi, ys, $a, $n, $b, $c);\n" },
        .op = {
            [KAL_OP_NEG]  = "NEG($a)",
            [KAL_OP_ADD]  = "ADD($a, $b)",
            [KAL_OP_SUB]  = "SUB($a, $b)",
            [KAL_OP_MUL]  = "MUL($a, $b)",
            [KAL_OP_FMA]  = "FMA($a, $b, $c)",
            [KAL_OP_FMS]  = "FMS($a, $b, $c)",
            [KAL_OP_FNMA] = "FNMA($a, $b, $c)",
        },
    },
    {
        .name     = "opencl",
        .precision = { OPENCL_F32, OPENCL_F64 },
        .prelude  = OPENCL_PRELUDE POINTER_PRELUDE COMMON_PRELUDE,
        .suffix   = { "", "" },
        KERNEL_CODELETS("C *v", "")
    },
    {
        .name     = "cuda",
        .precision = { CUDA_F32, CUDA_F64 },
        .prelude  = CUDA_PRELUDE POINTER_PRELUDE COMMON_PRELUDE,
        .suffix   = { "", "" },
        .group_bytes_are_launched = true,
        KERNEL_CODELETS("C *v", "")
    },
    {
        .name     = "glsl",
        .precision = { GLSL_VERSION GLSL_F32, GLSL_VERSION GLSL_F64 },
        .keeps_loops = GLSL_KEEPS_LOOPS,
        .prelude  = GLSL_PRELUDE GLSL_LAUNCH COMMON_PRELUDE,
        .suffix   = { "lf", "lf" }, // also of constants that are then rounded to f32
        .loads_always = true,
        .slot = { GLSL_SLOT("readonly "), GLSL_SLOT("") },
        KERNEL_CODELETS("inout C v[$n]", "EXACT ")
    },
    {
        .name     = "glsl-addresses",
        .precision = { GLSL_ADDRESSES_VERSION GLSL_F32,
                       GLSL_ADDRESSES_VERSION GLSL_UNROLLED GLSL_F64 },
        .for_tickets = GLSL_ADDRESSES_TICKETS,
        .prelude  = GLSL_PRELUDE GLSL_ADDRESSES_LAUNCH COMMON_PRELUDE,
        .suffix   = { "lf", "lf" },
        .loads_always = true,
        .slot = { [KAL_SLOT_READ] = GLSL_ADDRESSES_SLOT("readonly "),
                  [KAL_SLOT_WRITTEN] = GLSL_ADDRESSES_SLOT(""),
                  [KAL_SLOT_BETWEEN] = GLSL_ADDRESSES_SLOT("devicecoherent ") },
        KERNEL_CODELETS("inout C v[$n]", "EXACT ")
    },
    {
        .name     = "glsl-pointers",
        .precision = { GLSL_POINTERS_VERSION GLSL_F32, NULL }, // whose doubles become floats
        .for_tickets = GLSL_POINTERS_TICKETS,
        .prelude  = GLSL_PRELUDE GLSL_LAUNCH COMMON_PRELUDE,
        .suffix   = { "lf", NULL },
        .loads_always = true,
        .slot = { [KAL_SLOT_READ] = GLSL_POINTERS_SLOT(""),
                  [KAL_SLOT_WRITTEN] = GLSL_POINTERS_SLOT(""),
                  [KAL_SLOT_BETWEEN] = GLSL_POINTERS_SLOT("coherent ") },
        KERNEL_CODELETS("inout C v[$n]", "EXACT ")
    },
    {
        .name     = "essl",
        .precision = { ESSL_VERSION GLSL_F32, NULL },
        .keeps_loops = GLSL_KEEPS_LOOPS,
        .prelude  = GLSL_PRELUDE GLSL_LAUNCH COMMON_PRELUDE,
        .suffix   = { "", NULL },
        .loads_always = true,
        .slot = { GLSL_SLOT("readonly "), GLSL_SLOT("") },
        KERNEL_CODELETS("inout C v[$n]", "EXACT ")
    },
    {
        .name     = "hlsl",
        .precision = { HLSL_F32, HLSL_F64 },
        .prelude  = HLSL_PRELUDE COMMON_PRELUDE,
        .suffix   = { "f", "L" },
        .rounds_twice = true,
        .slot = {
            "TABLE($b, $a, $n)\n", "MEMORY($b, $a, $n)\n", "SHARE($b, $a, $n, $f)\n",
        },
        KERNEL_CODELETS("inout C v[$n]", "EXACT ")
    },
};
// clang-format on

const struct kal_dialect *kal_dialect_find(const char *name)
{
    for (size_t i = 0; i < KAL_COUNT(dialects); i++) {
        if (strcmp(dialects[i].name, name) == 0)
            return &dialects[i];
    }
    return NULL;
}
