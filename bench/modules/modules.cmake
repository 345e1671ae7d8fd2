# SPDX-License-Identifier: MIT
# What kallima bench loads for GPUs: a module for each compute API and one for each peer,
# where their headers and libraries are found. They lie beside the program and are not
# installed. CMAKE_PREFIX_PATH may name a folder with include/ and lib/ to look in first.
if(CMAKE_CROSSCOMPILING OR KALLIMA_SANITIZE) # the peers have faults of their own
    return()
endif()
set(module_folder ${CMAKE_CURRENT_LIST_DIR})
find_path(KALLIMA_BENCH_CUDA cuda.h PATH_SUFFIXES include
    HINTS ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_PATH} $ENV{CUDA_HOME}
        /usr/local/cuda)
get_filename_component(cuda_root "${KALLIMA_BENCH_CUDA}" DIRECTORY)
foreach(library cuda cudart nvrtc cufft)
    find_library(KALLIMA_BENCH_LIB_${library} ${library} HINTS ${cuda_root}
        PATH_SUFFIXES lib64 lib lib64/stubs lib/stubs)
endforeach()
find_path(KALLIMA_BENCH_OPENCL CL/cl.h)
find_library(KALLIMA_BENCH_LIB_OpenCL NAMES OpenCL libOpenCL.so.1)
find_path(KALLIMA_BENCH_CLFFT clFFT.h)
find_library(KALLIMA_BENCH_LIB_clFFT NAMES clFFT libclFFT.so.2)
find_path(KALLIMA_BENCH_VKFFT vkFFT.h)

# kallima_bench_module(name source definitions includes libraries): skipped if a part is missing
function(kallima_bench_module name source definitions includes libraries)
    foreach(part ${includes} ${libraries})
        if(part MATCHES "-NOTFOUND$")
            message(STATUS "kallima bench without ${name}: ${part}")
            return()
        endif()
    endforeach()
    add_library(kallima-bench-${name} MODULE ${module_folder}/${source})
    set_target_properties(kallima-bench-${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
        C_STANDARD 11 C_EXTENSIONS ON LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    target_compile_definitions(kallima-bench-${name} PRIVATE ${definitions})
    target_include_directories(kallima-bench-${name} SYSTEM PRIVATE ${includes})
    target_link_libraries(kallima-bench-${name} PRIVATE kallima ${libraries})
endfunction()

kallima_bench_module(cuda cuda.c "" "${KALLIMA_BENCH_CUDA}" "${KALLIMA_BENCH_LIB_cuda}")
kallima_bench_module(cuda-cufft cufft.c "" "${KALLIMA_BENCH_CUDA}"
    "${KALLIMA_BENCH_LIB_cufft};${KALLIMA_BENCH_LIB_cudart}")
kallima_bench_module(cuda-vkfft vkfft.c VKFFT_BACKEND=1
    "${KALLIMA_BENCH_CUDA};${KALLIMA_BENCH_VKFFT}"
    "${KALLIMA_BENCH_LIB_nvrtc};${KALLIMA_BENCH_LIB_cudart};${KALLIMA_BENCH_LIB_cuda};m")
kallima_bench_module(opencl opencl.c "" "${KALLIMA_BENCH_OPENCL}" "${KALLIMA_BENCH_LIB_OpenCL}")
kallima_bench_module(opencl-clfft clfft.c "" "${KALLIMA_BENCH_OPENCL};${KALLIMA_BENCH_CLFFT}"
    "${KALLIMA_BENCH_LIB_clFFT};${KALLIMA_BENCH_LIB_OpenCL}")
kallima_bench_module(opencl-vkfft vkfft.c "VKFFT_BACKEND=3;CL_TARGET_OPENCL_VERSION=120"
    "${KALLIMA_BENCH_OPENCL};${KALLIMA_BENCH_VKFFT}" "${KALLIMA_BENCH_LIB_OpenCL};m")
