# SPDX-License-Identifier: MIT
# What kallima bench loads for GPUs: a module for each compute API and one for each peer,
# where their headers and libraries are found. They lie beside the program and are not
# installed. CMAKE_PREFIX_PATH may name a folder with include/ and lib/ to look in first.
set(module_folder ${CMAKE_CURRENT_LIST_DIR})
find_path(KALLIMA_CUDA_INCLUDE cuda.h HINTS /usr/local/cuda PATH_SUFFIXES include)
get_filename_component(cuda_root "${KALLIMA_CUDA_INCLUDE}" DIRECTORY)
foreach(library cuda cudart nvrtc cufft)
    find_library(KALLIMA_LIB_${library} ${library} HINTS ${cuda_root}
        PATH_SUFFIXES lib64 lib lib64/stubs lib/stubs)
endforeach()
find_path(KALLIMA_OPENCL_INCLUDE CL/cl.h)
find_library(KALLIMA_LIB_OpenCL NAMES OpenCL libOpenCL.so.1)
find_path(KALLIMA_CLFFT_INCLUDE clFFT.h)
find_library(KALLIMA_LIB_clFFT NAMES clFFT libclFFT.so.2)
find_path(KALLIMA_VKFFT_INCLUDE vkFFT.h)

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
    list(APPEND kallima_bench_modules kallima-bench-${name})
    set(kallima_bench_modules ${kallima_bench_modules} PARENT_SCOPE)
endfunction()

set(kallima_bench_modules)
kallima_bench_module(cuda cuda.c "" "${KALLIMA_CUDA_INCLUDE}" "${KALLIMA_LIB_cuda}")
kallima_bench_module(cuda-cufft cufft.c "" "${KALLIMA_CUDA_INCLUDE}"
    "${KALLIMA_LIB_cufft};${KALLIMA_LIB_cudart}")
kallima_bench_module(cuda-vkfft vkfft.c VKFFT_BACKEND=1
    "${KALLIMA_CUDA_INCLUDE};${KALLIMA_VKFFT_INCLUDE}"
    "${KALLIMA_LIB_nvrtc};${KALLIMA_LIB_cudart};${KALLIMA_LIB_cuda};m")
kallima_bench_module(opencl opencl.c "" "${KALLIMA_OPENCL_INCLUDE}" "${KALLIMA_LIB_OpenCL}")
kallima_bench_module(opencl-clfft clfft.c "" "${KALLIMA_OPENCL_INCLUDE};${KALLIMA_CLFFT_INCLUDE}"
    "${KALLIMA_LIB_clFFT};${KALLIMA_LIB_OpenCL}")
kallima_bench_module(opencl-vkfft vkfft.c "VKFFT_BACKEND=3;CL_TARGET_OPENCL_VERSION=120"
    "${KALLIMA_OPENCL_INCLUDE};${KALLIMA_VKFFT_INCLUDE}" "${KALLIMA_LIB_OpenCL};m")
