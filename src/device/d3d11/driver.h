// SPDX-License-Identifier: MIT
// What the files of this folder share: Direct3D's functions, found at run time, and the device's
// own objects.
#ifndef KAL_DEVICE_D3D11_DRIVER_H_
#define KAL_DEVICE_D3D11_DRIVER_H_

#define COBJMACROS
#define WIN32_LEAN_AND_MEAN // without sockets, whose bind() is no name of ours
#include <windows.h>

#include <d3d11.h>
#include <d3dcompiler.h>
#include <dxgi.h>
#include <pthread.h>

#include "device/d3d11/d3d11.h"

enum {
    D3D_MOST_DEVICES = 16,
    D3D_MOST_SLOTS = D3D11_PS_CS_UAV_REGISTER_COUNT, // of feature level 11_0
    D3D_MOST_GROUPS = D3D11_CS_DISPATCH_MAX_THREAD_GROUPS_PER_DIMENSION,
};

struct d3d_api {
    PFN_D3D11_CREATE_DEVICE create_device;
    HRESULT(WINAPI *create_factory)(REFIID id, void **factory);
};

/** An adapter that there is, and what was asked of it once. */
struct d3d_adapter {
    kallima_device_info info;
    IDXGIAdapter1 *adapter;
};

/** An immediate context is for one thread at a time. */
struct d3d_device {
    struct kallima_device base;
    kallima_device_info info;
    ID3D11Device *device;
    ID3D11DeviceContext *context;
    pthread_mutex_t lock;    // held while the context is used
    ID3D11Buffer *constants; // of a launch
    ID3D11Buffer *staging;   // what the host reads from
    ID3D11Query *fence;
};

/** An object of Direct3D with its views, which are of all of it. */
struct d3d_memory {
    ID3D11Buffer *buffer;
    ID3D11ShaderResourceView *read;
    ID3D11UnorderedAccessView *written;
};

struct d3d_kernel {
    struct kal_device_kernel base;
    ID3D11ComputeShader *shader;
    uint32_t slots, named, written; // as those of struct kal_kernel_text
};

/** Return Direct3D's functions; NULL where it is not installed. Thread: any. */
const struct d3d_api *kal_d3d_api(void);

/** Return the compiler, loaded when it is first asked for; NULL where it is missing. */
pD3DCompile kal_d3d_compiler(void);

/** Return adapter `index`, imitations last, NULL where there is none. Thread: any. */
const struct d3d_adapter *kal_d3d_adapter(int index);

/** Whether the first adapter is no imitation. None is started. */
bool kal_d3d_has_gpu(void);

/** Create a device of feature level 11_0 or above. */
HRESULT kal_d3d_create(const struct d3d_api *api, IDXGIAdapter1 *adapter,
                       ID3D11Device **device, ID3D11DeviceContext **context);

/** Fill in what the device can do. */
void kal_d3d_fill_caps(struct d3d_device *device);

/** Make a device of both objects, which it takes also where it fails. */
kallima_status kal_d3d_device_take(kallima_device **out, const struct kal_host *host,
                                   const kallima_device_info *info, ID3D11Device *device,
                                   ID3D11DeviceContext *context);

/** Describe the adapter of a device that is not in the list. */
void kal_d3d_describe_device(ID3D11Device *device, kallima_device_info *info);

/** Return OK if `result` is; else log the failed `call` and translate it. */
kallima_status kal_d3d_check(const struct d3d_device *device, HRESULT result,
                             const char *call);

/** Wait until `query` has been reached, and read it; with the lock held. */
kallima_status kal_d3d_wait(const struct d3d_device *device, ID3D11Query *query,
                            void *data, unsigned bytes);

/** Make a buffer of an object of Direct3D, with views; it takes one count of the object. */
kallima_status kal_d3d_buffer_take(kallima_buffer **out, struct d3d_device *device,
                                   ID3D11Buffer *buffer, uint64_t offset_bytes,
                                   uint64_t bytes);

kallima_status kal_d3d_buffer_create(kallima_buffer **out, kallima_device *device,
                                     uint64_t bytes);
void kal_d3d_buffer_destroy(kallima_buffer *buffer);
kallima_status kal_d3d_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                    const void *source, uint64_t bytes);
kallima_status kal_d3d_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                   void *target, uint64_t bytes);
kallima_status kal_d3d_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                   const kallima_buffer *source, uint64_t source_offset,
                                   uint64_t bytes);

kallima_status kal_d3d_timer_create(kallima_timer **out, kallima_device *device);
void kal_d3d_timer_destroy(kallima_timer *timer);
kallima_status kal_d3d_timer_start(kallima_timer *timer);
kallima_status kal_d3d_timer_stop(kallima_timer *timer);
kallima_status kal_d3d_timer_read(const kallima_timer *timer, double *seconds);

kallima_status kal_d3d_kernel_create(struct kal_device_kernel **out,
                                     kallima_device *device,
                                     const struct kal_kernel_text *text,
                                     const struct kal_binary *binary,
                                     struct kal_binary *made);
void kal_d3d_kernel_destroy(struct kal_device_kernel *kernel);
void kal_d3d_kernel_key(const kallima_device *device, char *key, size_t capacity);

kallima_status kal_d3d_enqueue(kallima_device *device, const struct kal_work *work,
                               int count, const struct kal_sync *sync);

#endif
