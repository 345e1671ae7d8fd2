// SPDX-License-Identifier: MIT
#include <windows.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/file.h>

// --- files -------------------------------------------------------------------------------

static HANDLE handle_of(int file)
{
    return (HANDLE)_get_osfhandle(file);
}

static int fail(int cause)
{
    errno = cause;
    return -1;
}

// 100 ns since 1601.
static struct timespec time_of(FILETIME t)
{
    const uint64_t ticks = ((uint64_t)t.dwHighDateTime << 32) | t.dwLowDateTime;
    return (struct timespec){ .tv_sec = (time_t)(ticks / 10000000u - 11644473600u),
                              .tv_nsec = (long)(ticks % 10000000u * 100u) };
}

static int describe(HANDLE handle, struct kal_posix_stat *about)
{
    BY_HANDLE_FILE_INFORMATION info;

    *about = (struct kal_posix_stat){ 0 };
    if (GetFileType(handle) != FILE_TYPE_DISK ||
        !GetFileInformationByHandle(handle, &info)) {
        about->st_mode = _S_IFCHR;
        return 0;
    }
    *about = (struct kal_posix_stat){
        .st_dev = info.dwVolumeSerialNumber,
        .st_ino = ((uint64_t)info.nFileIndexHigh << 32) | info.nFileIndexLow,
        .st_mode = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? _S_IFDIR | 0700
                                                                    : _S_IFREG | 0600,
        .st_size = (int64_t)(((uint64_t)info.nFileSizeHigh << 32) | info.nFileSizeLow),
        .st_mtim = time_of(info.ftLastWriteTime),
    };
    return 0;
}

int kal_posix_fstat(int file, struct kal_posix_stat *about)
{
    return describe(handle_of(file), about);
}

int kal_posix_stat(const char *path, struct kal_posix_stat *about)
{
    const HANDLE handle =
        CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return fail(ENOENT);
    const int result = describe(handle, about);
    CloseHandle(handle);
    return result;
}

static _Thread_local char entered[MAX_PATH];

// mingw-w64 keeps the pattern that it looks for: the folder and "\*".
int kal_posix_enter(DIR *folder)
{
    const size_t length = strlen(folder->dd_name);
    if (length < 1 || length >= sizeof entered)
        return fail(ENAMETOOLONG);
    memcpy(entered, folder->dd_name, length - 1);
    entered[length - 1] = '\0';
    return 0;
}

static int path_in(int folder, const char *name, char path[2 * MAX_PATH])
{
    if (folder < 0)
        return -1;
    snprintf(path, 2 * MAX_PATH, "%s%s", entered, name);
    return 0;
}

int kal_posix_stat_in(int folder, const char *name, struct kal_posix_stat *about)
{
    char path[2 * MAX_PATH];
    return path_in(folder, name, path) ? -1 : kal_posix_stat(path, about);
}

int kal_posix_unlink_in(int folder, const char *name)
{
    char path[2 * MAX_PATH];
    return path_in(folder, name, path) ? -1 : unlink(path);
}

int kal_posix_rename(const char *from, const char *to)
{
    enum { TRIES = 200, PAUSE_MS = 5 };
    for (int i = 0; i < TRIES; i++) {
        if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
            return 0;
        const DWORD code = GetLastError();
        if (code != ERROR_ACCESS_DENIED && code != ERROR_SHARING_VIOLATION)
            return fail(code == ERROR_DISK_FULL ? ENOSPC : ENOENT);
        Sleep(PAUSE_MS);
    }
    return fail(EACCES);
}

int kal_posix_fsync(int file)
{
    return FlushFileBuffers(handle_of(file)) ? 0 : fail(EIO);
}

int kal_posix_touch(int file)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return SetFileTime(handle_of(file), NULL, NULL, &now) ? 0 : fail(EACCES);
}

ssize_t kal_posix_pread(int file, void *data, size_t bytes, int64_t at)
{
    enum { MOST_BYTES = 1 << 30 };
    OVERLAPPED place = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
    DWORD count = 0;
    const DWORD asked = bytes < MOST_BYTES ? (DWORD)bytes : MOST_BYTES;
    if (ReadFile(handle_of(file), data, asked, &count, &place))
        return (ssize_t)count;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : fail(EIO);
}

int kal_posix_mkstemp(char *path)
{
    enum { TRIES = 100, LETTERS = 6 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static atomic_uint count;
    char *end = path + strlen(path) - LETTERS;

    for (int i = 0; i < TRIES; i++) {
        LARGE_INTEGER now;
        QueryPerformanceCounter(&now);
        uint64_t number = (uint64_t)now.QuadPart * 2654435761u + GetCurrentProcessId() +
                          ((uint64_t)atomic_fetch_add(&count, 1) << 20);
        for (int k = 0; k < LETTERS; k++, number /= sizeof letters - 1)
            end[k] = letters[number % (sizeof letters - 1)];
        const int file = open(path, _O_RDWR | _O_CREAT | _O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return fail(EEXIST);
}

char *kal_posix_realpath(const char *path, char *followed)
{
    struct kal_posix_stat about;
    if (kal_posix_stat(path, &about) != 0)
        return NULL;
    return _fullpath(followed, path, followed ? PATH_MAX : 0);
}

char *kal_posix_strndup(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\0', bytes);
    const size_t length = end ? (size_t)(end - text) : bytes;
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

int kal_posix_flock(int file, int operation)
{
    OVERLAPPED whole = { 0 };
    const HANDLE handle = handle_of(file);
    if (operation & LOCK_UN)
        return UnlockFileEx(handle, 0, 1, 0, &whole) ? 0 : fail(EIO);
    const DWORD flags =
        LOCKFILE_EXCLUSIVE_LOCK | (operation & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0);
    if (LockFileEx(handle, flags, 0, 1, 0, &whole))
        return 0;
    return fail(GetLastError() == ERROR_LOCK_VIOLATION ? EWOULDBLOCK : EIO);
}

// --- the process -------------------------------------------------------------------------

long kal_posix_sysconf(int name)
{
    MEMORYSTATUSEX memory = { .dwLength = sizeof memory };
    SYSTEM_INFO system;

    GetSystemInfo(&system);
    if (name == _SC_NPROCESSORS_ONLN)
        return (long)system.dwNumberOfProcessors;
    if (name == _SC_PAGESIZE)
        return (long)system.dwPageSize;
    return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / system.dwPageSize)
                                         : -1;
}

int kal_posix_sigaction(int number, const struct sigaction *action,
                        struct sigaction *before)
{
    void (*const old)(int) = signal(number, action ? action->sa_handler : SIG_DFL);
    if (old == SIG_ERR)
        return -1;
    if (before)
        *before = (struct sigaction){ .sa_handler = old };
    if (!action)
        signal(number, old);
    return 0;
}

// --- libraries ---------------------------------------------------------------------------

static const struct {
    const char *name, *here;
} libraries[] = {
    { "libOpenCL.so.1", "OpenCL.dll" },
    { "libcuda.so.1", "nvcuda.dll" },
    { "libnvrtc.so.13", "nvrtc64_130_0.dll" },
    { "libnvrtc.so.12", "nvrtc64_120_0.dll" },
    { "libnvrtc.so.11.2", "nvrtc64_112_0.dll" },
    { "libEGL.so.1", "libEGL.dll" },
    { "libvulkan.so.1", "vulkan-1.dll" },
};

// A library that is known by another name is looked for where Windows looks for libraries.
void *kal_posix_dlopen(const char *name, int flags)
{
    (void)flags;
    if (!name)
        return NULL;
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strcmp(last, libraries[i].name) == 0)
            return (void *)LoadLibraryA(libraries[i].here);
    }
    return (void *)LoadLibraryA(name);
}

void *kal_posix_dlsym(void *library, const char *name)
{
    return (void *)GetProcAddress((HMODULE)library, name);
}

int kal_posix_dlclose(void *library)
{
    return FreeLibrary((HMODULE)library) ? 0 : -1;
}

char *kal_posix_dlerror(void)
{
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "error %lu of Windows", (unsigned long)GetLastError());
    return text;
}
