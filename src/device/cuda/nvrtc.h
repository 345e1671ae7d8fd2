// SPDX-License-Identifier: MIT
#ifndef KAL_DEVICE_CUDA_NVRTC_H_
#define KAL_DEVICE_CUDA_NVRTC_H_

#include <nvrtc.h>

// Every function of NVRTC that is called, without "nvrtc".
// clang-format off
#define KAL_NVRTC_SYMBOLS(X)   \
    X(Version)                 \
    X(GetErrorString)          \
    X(GetNumSupportedArchs)    \
    X(GetSupportedArchs)       \
    X(CreateProgram)           \
    X(DestroyProgram)          \
    X(CompileProgram)          \
    X(GetProgramLogSize)       \
    X(GetProgramLog)           \
    X(GetPTXSize)              \
    X(GetPTX)                  \
    X(GetCUBINSize)            \
    X(GetCUBIN)
// clang-format on

struct cuda_nvrtc {
#define KAL_NVRTC_MEMBER(name) __typeof__(nvrtc##name) *name;
    KAL_NVRTC_SYMBOLS(KAL_NVRTC_MEMBER)
#undef KAL_NVRTC_MEMBER
    int major, minor; // version
};

/** Load NVRTC; NULL where it is not there. Thread: any. */
const struct cuda_nvrtc *kal_cuda_nvrtc_find(void);

#endif
