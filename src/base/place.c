// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // secure_getenv()
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/platform.h"
#include "base/text.h"

static bool is_off(const char *place)
{
    return place[0] == '\0' || strcmp(place, "off") == 0;
}

// Root may write to anybody's folders, whose owners could then not remove what it made.
static bool is_foreign(const char *folder)
{
    struct stat about;
    return geteuid() == 0 && stat(folder, &about) == 0 && about.st_uid != 0;
}

// A home that is there and can be written. The root folder is the home of who has none.
static bool is_home(const char *folder)
{
    struct stat about, root;
    if (!folder || !kal_path_is_absolute(folder) || stat(folder, &about) != 0 ||
        stat("/", &root) != 0)
        return false;
    return S_ISDIR(about.st_mode) &&
           (about.st_dev != root.st_dev || about.st_ino != root.st_ino) &&
           !is_foreign(folder) &&
           faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
}

// The place that was asked for, as it is seen from here: the process may go elsewhere.
static void add_absolute(struct kal_text *path, const char *place)
{
    char here[PATH_MAX];
    if (kal_path_is_absolute(place))
        kal_text_add(path, "%s", place);
    else if (getcwd(here, sizeof here))
        kal_text_add(path, "%s/%s", here, place);
}

// A relative folder of caches is as good as none, says the specification.
static void add_default(struct kal_text *path, const char *name)
{
    const char *cache = secure_getenv(KAL_CACHE_VARIABLE), *home = secure_getenv("HOME");
    if (cache && kal_path_is_absolute(cache)) {
        if (!is_foreign(cache))
            kal_text_add(path, "%s/%s", cache, name);
    } else if (is_home(home)) {
        kal_text_add(path, "%s/.cache/%s", home, name);
    }
}

kallima_status kal_place_find(const struct kal_host *host, const char *option,
                              const char *variable, const char *name, char **place)
{
    struct kal_text path;
    const char *asked = option ? option : secure_getenv(variable);

    kal_text_init(&path, host);
    if (!asked)
        add_default(&path, name);
    else if (!is_off(asked))
        add_absolute(&path, asked);
    *place = path.data; // NULL where nothing was added
    return path.status;
}

bool kal_place_is_named(const char *option, const char *variable)
{
    return option || secure_getenv(variable);
}

void kal_place_make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) == 0)
            (void)!fchmodat(AT_FDCWD, path, 0700, AT_SYMLINK_NOFOLLOW);
        *slash = '/';
    }
}

bool kal_place_allows(uint64_t bytes)
{
    struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

    (void)!getrlimit(RLIMIT_FSIZE, &limit);
    return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

bool kal_file_read(int file, void *data, size_t bytes, size_t offset)
{
    while (bytes > 0) {
        const ssize_t count = pread(file, data, bytes, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        data = (char *)data + count;
        bytes -= (size_t)count;
        offset += (size_t)count;
    }
    return true;
}

bool kal_file_write(int file, const void *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t count = write(file, data, bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        data = (const char *)data + count;
        bytes -= (size_t)count;
    }
    return true;
}

bool kal_switch_is_on(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && value[0] != '\0' && strcmp(value, "0") != 0;
}
