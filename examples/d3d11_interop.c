// SPDX-License-Identifier: MIT
// A transform in a program that uses Direct3D 11 already: its own device, context and buffers.
#define COBJMACROS
#include <windows.h>

#include <d3d11.h>
#include <kallima/interop/d3d11.h>
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = 360,
    HEADER = 1024,
    BYTES = N * 2 * sizeof(float)
}; // HEADER: the program's own

static float in[N][2], out[N][2]; // real and imaginary parts

// Every call of Direct3D and of the library that fails ends the program.
static void check(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "%s: %s (%d)\n", what, kallima_last_error(), failed);
        exit(EXIT_FAILURE);
    }
}

static ID3D11Device *open_device(ID3D11DeviceContext **context)
{
    static const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
    ID3D11Device *device = NULL;
    if (FAILED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, &level, 1,
                                 D3D11_SDK_VERSION, &device, NULL, context))) {
        puts("no device of Direct3D 11 is present");
        exit(77);
    }
    return device;
}

// Kernels read and write raw memory.
static ID3D11Buffer *create_buffer(ID3D11Device *device, UINT bytes)
{
    const D3D11_BUFFER_DESC desc = {
        .ByteWidth = bytes,
        .BindFlags = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_UNORDERED_ACCESS,
        .MiscFlags = D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS,
    };
    ID3D11Buffer *buffer = NULL;
    check(FAILED(ID3D11Device_CreateBuffer(device, &desc, NULL, &buffer)), "buffer");
    return buffer;
}

// What is behind the header, by way of a buffer that the host can read.
static void read_back(ID3D11Device *device, ID3D11DeviceContext *context,
                      ID3D11Buffer *buffer)
{
    const D3D11_BUFFER_DESC desc = { .ByteWidth = BYTES,
                                     .Usage = D3D11_USAGE_STAGING,
                                     .CPUAccessFlags = D3D11_CPU_ACCESS_READ };
    const D3D11_BOX box = {
        .left = HEADER, .right = HEADER + BYTES, .bottom = 1, .back = 1
    };
    ID3D11Buffer *staging = NULL;
    D3D11_MAPPED_SUBRESOURCE mapped;

    check(FAILED(ID3D11Device_CreateBuffer(device, &desc, NULL, &staging)), "staging");
    ID3D11DeviceContext_CopySubresourceRegion(context, (ID3D11Resource *)staging, 0, 0, 0,
                                              0, (ID3D11Resource *)buffer, 0, &box);
    check(FAILED(ID3D11DeviceContext_Map(context, (ID3D11Resource *)staging, 0,
                                         D3D11_MAP_READ, 0, &mapped)),
          "map");
    memcpy(out, mapped.pData, BYTES);
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)staging, 0);
    ID3D11Buffer_Release(staging);
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
    const kallima_desc desc = { .rank = 1, .n = { N } };
    const D3D11_BOX box = {
        .left = HEADER, .right = HEADER + BYTES, .bottom = 1, .back = 1
    };
    ID3D11DeviceContext *context = NULL;
    ID3D11Device *d3d = open_device(&context);
    ID3D11Buffer *memory[2] = { create_buffer(d3d, HEADER + BYTES),
                                create_buffer(d3d, HEADER + BYTES) };
    kallima_device_arrays arrays = { .workspace = NULL };
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;

    for (int j = 0; j < N; j++) {
        in[j][0] = (float)sin(0.1 * j * j);
        in[j][1] = (float)cos(0.3 * j);
    }
    check(kallima_d3d11_adopt(&device, d3d, context, NULL), "adopt");
    check(kallima_d3d11_wrap(&arrays.in[0], device, memory[0], HEADER, BYTES), "wrap");
    check(kallima_d3d11_wrap(&arrays.out[0], device, memory[1], HEADER, BYTES), "wrap");
    check(kallima_plan_create(&plan, device, &desc, NULL), "plan");
    kallima_device_close(&device); // plan and buffers keep it

    // Direct3D itself keeps the order: write, transform, read.
    ID3D11DeviceContext_UpdateSubresource(context, (ID3D11Resource *)memory[0], 0, &box,
                                          in, 0, 0);
    check(kallima_plan_execute(plan, &arrays), "execute");
    read_back(d3d, context, memory[1]);
    const double error = largest_error();
    printf("largest error: %.1e\n", error);

    kallima_plan_destroy(&plan);
    kallima_buffer_destroy(&arrays.in[0]);
    kallima_buffer_destroy(&arrays.out[0]);
    ID3D11Buffer_Release(memory[0]);
    ID3D11Buffer_Release(memory[1]);
    ID3D11DeviceContext_Release(context);
    ID3D11Device_Release(d3d);
    return error < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
