// SPDX-License-Identifier: MIT
// Transforms in a CUDA program of one's own: its context, its stream, its memory. One execution
// is captured in a graph, which then runs for one input after the other.
#include <cuda.h>
#include <kallima/interop/cuda.h>
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>

enum { N = 1000, BATCH = 3, RUNS = 2, SKIPPED = 77 };

typedef float array[BATCH][N][2]; // real and imaginary parts

static struct {
    CUdevice gpu;
    CUcontext context;
    CUstream stream;
    CUdeviceptr in, out, workspace;
    CUgraph graph;
    CUgraphExec executable;
} cuda;

static kallima_device *device;
static kallima_buffer *in, *out, *workspace;
static kallima_plan *plan;

static int succeeds(CUresult result)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return 1;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s\n", name ? name : "an error without a name");
    return 0;
}

static int plans(kallima_status status)
{
    if (status != KALLIMA_OK)
        fprintf(stderr, "%s\n", kallima_last_error());
    return status == KALLIMA_OK;
}

// What the program has anyway.
static int start_cuda(void)
{
    return succeeds(cuDeviceGet(&cuda.gpu, 0)) &&
           succeeds(cuDevicePrimaryCtxRetain(&cuda.context, cuda.gpu)) &&
           succeeds(cuCtxPushCurrent(cuda.context)) &&
           succeeds(cuStreamCreate(&cuda.stream, CU_STREAM_NON_BLOCKING)) &&
           succeeds(cuMemAlloc(&cuda.in, sizeof(array))) &&
           succeeds(cuMemAlloc(&cuda.out, sizeof(array)));
}

// A plan on that stream, and buffers that are that memory.
static int make_plan(void)
{
    const kallima_desc desc = { .rank = 1, .n = { N }, .batch = BATCH };
    if (!plans(kallima_cuda_adopt(&device, cuda.context, cuda.stream, NULL)) ||
        !plans(kallima_cuda_wrap(&in, device, cuda.in, sizeof(array))) ||
        !plans(kallima_cuda_wrap(&out, device, cuda.out, sizeof(array))) ||
        !plans(kallima_plan_create(&plan, device, &desc, NULL)))
        return 0;
    const uint64_t bytes = kallima_plan_get_workspace(plan);
    return bytes == 0 ||
           (succeeds(cuMemAlloc(&cuda.workspace, bytes)) &&
            plans(kallima_cuda_wrap(&workspace, device, cuda.workspace, bytes)));
}

static int capture(void)
{
    const kallima_device_arrays arrays = { .in = { in },
                                           .out = { out },
                                           .workspace = workspace };
    return succeeds(
               cuStreamBeginCapture(cuda.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)) &&
           plans(kallima_plan_execute(plan, &arrays)) &&
           succeeds(cuStreamEndCapture(cuda.stream, &cuda.graph)) &&
           succeeds(cuGraphInstantiateWithFlags(&cuda.executable, cuda.graph, 0));
}

static int replay(array x, array y)
{
    return succeeds(cuMemcpyHtoDAsync(cuda.in, x, sizeof(array), cuda.stream)) &&
           succeeds(cuGraphLaunch(cuda.executable, cuda.stream)) &&
           succeeds(cuMemcpyDtoHAsync(y, cuda.out, sizeof(array), cuda.stream)) &&
           succeeds(cuStreamSynchronize(cuda.stream));
}

// The relative error of `y` against the definition, in the 2-norm.
static double error_of(array x, array y)
{
    double error = 0.0, norm = 0.0;
    for (int b = 0; b < BATCH; b++) {
        for (int k = 0; k < N; k++) {
            double re = 0.0, im = 0.0;
            for (int j = 0; j < N; j++) {
                const double angle = -6.283185307179586 * (j * k % N) / N;
                re += x[b][j][0] * cos(angle) - x[b][j][1] * sin(angle);
                im += x[b][j][0] * sin(angle) + x[b][j][1] * cos(angle);
            }
            error += pow(y[b][k][0] - re, 2) + pow(y[b][k][1] - im, 2);
            norm += re * re + im * im;
        }
    }
    return sqrt(error / norm);
}

static int transform(void)
{
    static array x, y;
    for (int run = 0; run < RUNS; run++) {
        for (int b = 0; b < BATCH; b++) {
            for (int j = 0; j < N; j++) {
                x[b][j][0] = (float)((j * 37 + b * 11 + run) % 101) / 101.0f - 0.5f;
                x[b][j][1] = (float)((j * 53 + b * 7 + run) % 89) / 89.0f - 0.5f;
            }
        }
        if (!replay(x, y))
            return 0;
        const double error = error_of(x, y);
        printf("run %d: relative error %.1e\n", run, error);
        if (!(error < 1e-6))
            return 0;
    }
    return 1;
}

// The library's objects go first: they use what is the program's.
static void stop(void)
{
    kallima_plan_destroy(&plan);
    kallima_buffer_destroy(&workspace);
    kallima_buffer_destroy(&out);
    kallima_buffer_destroy(&in);
    kallima_device_close(&device);
    if (cuda.executable)
        cuGraphExecDestroy(cuda.executable);
    if (cuda.graph)
        cuGraphDestroy(cuda.graph);
    cuMemFree(cuda.workspace); // of 0 does nothing
    cuMemFree(cuda.out);
    cuMemFree(cuda.in);
    if (cuda.stream)
        cuStreamDestroy(cuda.stream);
    if (cuda.context) {
        cuCtxPopCurrent(NULL);
        cuDevicePrimaryCtxRelease(cuda.gpu);
    }
}

int main(void)
{
    int count = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS ||
        count == 0) {
        printf("no GPU of CUDA\n");
        return SKIPPED;
    }
    const int is_right = start_cuda() && make_plan() && capture() && transform();
    stop();
    return is_right ? 0 : 1;
}
