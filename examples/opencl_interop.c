// SPDX-License-Identifier: MIT
// A transform in a program that uses OpenCL already: its own queue, its own memory from an
// offset on, and events in place of waiting.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <kallima/interop/opencl.h>
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N = 360,
    HEADER = 1024,
    BYTES = N * 2 * sizeof(float)
}; // HEADER: the program's own

static float in[N][2], out[N][2]; // real and imaginary parts

// Every call of OpenCL and of the library that fails ends the program.
static void check(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "%s: %s (%d)\n", what, kallima_last_error(), failed);
        exit(EXIT_FAILURE);
    }
}

static cl_device_id first_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        puts("no OpenCL device is present");
        exit(77);
    }
    return device;
}

// The device, a plan, and two buffers behind each other in the program's memory.
static kallima_plan *prepare(cl_context context, cl_command_queue queue, cl_mem memory,
                             kallima_device_arrays *arrays)
{
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    const kallima_desc desc = { .rank = 1, .n = { N } };

    check(kallima_opencl_adopt(&device, context, queue, NULL), "adopt");
    check(kallima_opencl_wrap(&arrays->in[0], device, memory, HEADER, BYTES), "wrap");
    check(kallima_opencl_wrap(&arrays->out[0], device, memory, HEADER + BYTES, BYTES),
          "wrap");
    check(kallima_plan_create(&plan, device, &desc, NULL), "plan");
    kallima_device_close(&device); // plan and buffers keep it
    return plan;
}

// Write, transform, read: each waits for the one before it on the device.
static void run(cl_command_queue queue, cl_mem memory, const kallima_plan *plan,
                const kallima_device_arrays *arrays)
{
    cl_event written, transformed;

    check(clEnqueueWriteBuffer(queue, memory, CL_FALSE, HEADER, BYTES, in, 0, NULL,
                               &written),
          "write");
    check(kallima_opencl_execute(plan, arrays, 1, &written, &transformed), "execute");
    check(clEnqueueReadBuffer(queue, memory, CL_TRUE, HEADER + BYTES, BYTES, out, 1,
                              &transformed, NULL),
          "read");
    clReleaseEvent(written);
    clReleaseEvent(transformed);
}

// The largest distance from the sum over j of in[j] * exp(-2*pi*i * j*k / N).
static double largest_error(void)
{
    double largest = 0.0;
    for (int k = 0; k < N; k++) {
        double re = 0.0, im = 0.0;
        for (int j = 0; j < N; j++) {
            const double angle = -6.283185307179586 * (j * k % N) / N;
            re += in[j][0] * cos(angle) - in[j][1] * sin(angle);
            im += in[j][0] * sin(angle) + in[j][1] * cos(angle);
        }
        largest = fmax(largest, hypot(out[k][0] - re, out[k][1] - im));
    }
    return largest;
}

int main(void)
{
    cl_int code;
    cl_device_id id = first_device();
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    check(code, "context");
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &code);
    check(code, "queue");
    cl_mem memory =
        clCreateBuffer(context, CL_MEM_READ_WRITE, HEADER + 2 * BYTES, NULL, &code);
    check(code, "memory");

    for (int j = 0; j < N; j++) {
        in[j][0] = (float)sin(0.1 * j * j);
        in[j][1] = (float)cos(0.3 * j);
    }
    kallima_device_arrays arrays = { .workspace = NULL };
    kallima_plan *plan = prepare(context, queue, memory, &arrays);
    run(queue, memory, plan, &arrays);
    const double error = largest_error();
    printf("largest error: %.1e\n", error);

    kallima_plan_destroy(&plan);
    kallima_buffer_destroy(&arrays.in[0]);
    kallima_buffer_destroy(&arrays.out[0]);
    clReleaseMemObject(memory);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return error < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
