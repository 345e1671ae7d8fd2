// SPDX-License-Identifier: MIT
// d3dcompiler_47.dll for tests under Wine, whose own compiles no compute shaders: D3DCompile()
// hands the text to the program of Linux that HLSL_COMPILER names, as
//     PROGRAM TEXT PROFILE ENTRY CODE
// which makes the file CODE, or CODE.err with the reasons. Flags and includes are ignored.
#define COBJMACROS
#define INITGUID
#include <windows.h>

#include <d3dcommon.h>
#include <stdio.h>

enum { PATH_BYTES = 512, PATIENCE_MS = 120000 };

struct blob {
    ID3D10Blob base;
    LONG references;
    SIZE_T bytes;
    char data[];
};

static HRESULT STDMETHODCALLTYPE query(ID3D10Blob *blob, REFIID id, void **out)
{
    (void)id;
    *out = blob;
    return ID3D10Blob_AddRef(blob), S_OK;
}

static ULONG STDMETHODCALLTYPE add_reference(ID3D10Blob *blob)
{
    return (ULONG)InterlockedIncrement(&((struct blob *)blob)->references);
}

static ULONG STDMETHODCALLTYPE release(ID3D10Blob *blob)
{
    const LONG left = InterlockedDecrement(&((struct blob *)blob)->references);
    if (left == 0)
        free(blob);
    return (ULONG)left;
}

static void *STDMETHODCALLTYPE data_of(ID3D10Blob *blob)
{
    return ((struct blob *)blob)->data;
}

static SIZE_T STDMETHODCALLTYPE bytes_of(ID3D10Blob *blob)
{
    return ((struct blob *)blob)->bytes;
}

static ID3D10BlobVtbl table = { query, add_reference, release, data_of, bytes_of };

// The whole file as a blob, NULL if it is not there.
static ID3D10Blob *read_blob(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long bytes = ftell(file);
    rewind(file);
    struct blob *blob = malloc(sizeof *blob + (size_t)bytes);
    if (blob) {
        blob->base.lpVtbl = &table;
        blob->references = 1;
        blob->bytes = fread(blob->data, 1, (size_t)bytes, file);
    }
    fclose(file);
    return blob ? &blob->base : NULL;
}

static BOOL write_text(const char *path, const void *text, SIZE_T bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return FALSE;
    const BOOL is_written = fwrite(text, 1, bytes, file) == bytes;
    return fclose(file) == 0 && is_written;
}

static BOOL start(const char *stem, const char *profile, const char *entry)
{
    char compiler[PATH_BYTES], command[4 * PATH_BYTES];
    STARTUPINFOA startup = { .cb = sizeof startup };
    PROCESS_INFORMATION process;

    if (!GetEnvironmentVariableA("HLSL_COMPILER", compiler, sizeof compiler))
        return FALSE;
    snprintf(command, sizeof command, "\"Z:%s\" %s.hlsl %s %s %s.dxbc", compiler, stem,
             profile, entry, stem);
    if (!CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup,
                        &process))
        return FALSE;
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    return TRUE;
}

// A program of Linux cannot be waited for: wait for either file, which it makes at once.
static HRESULT wait_for(const char *stem, ID3D10Blob **code, ID3D10Blob **log)
{
    char made[PATH_BYTES + 16], refused[PATH_BYTES + 16];
    snprintf(made, sizeof made, "Z:%s.dxbc", stem);
    snprintf(refused, sizeof refused, "Z:%s.dxbc.err", stem);
    for (int i = 0; i < PATIENCE_MS; i++) {
        ID3D10Blob *blob = read_blob(made);
        if (blob) {
            *code = blob;
            remove(made);
            return S_OK;
        }
        blob = read_blob(refused);
        if (blob) {
            *log = blob;
            remove(refused);
            return E_FAIL;
        }
        Sleep(1);
    }
    return E_FAIL;
}

__declspec(dllexport) HRESULT WINAPI
    D3DCompile(const void *text, SIZE_T bytes, const char *name,
               const D3D_SHADER_MACRO *macros, ID3DInclude *include, const char *entry,
               const char *profile, UINT flags, UINT effect_flags, ID3D10Blob **code,
               ID3D10Blob **log)
{
    static volatile LONG count;
    char stem[PATH_BYTES], path[PATH_BYTES + 16];

    (void)name;
    (void)macros;
    (void)include;
    (void)flags;
    (void)effect_flags;
    *code = *log = NULL;
    snprintf(stem, sizeof stem, "/tmp/kallima_hlsl_%lu_%ld",
             (unsigned long)GetCurrentProcessId(), InterlockedIncrement(&count));
    snprintf(path, sizeof path, "Z:%s.hlsl", stem);
    if (!write_text(path, text, bytes) || !start(stem, profile, entry))
        return E_FAIL;
    const HRESULT result = wait_for(stem, code, log);
    remove(path);
    return result;
}
