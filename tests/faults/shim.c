/* Counts what a process does to the files of one folder, and lets the n-th step fail or kill it.

   Loaded before the C library (LD_PRELOAD), so that Python, Arrow and safetensors go through it alike. A step is
   an open, read, write, map, rename, link, unlink, truncate or fsync, of a file in the folder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, FAIL_ONCE, DISK_FULL, KILL };

static char folder[4096];
static long at, steps;
static int mode = COUNT, armed;

void shim_arm(const char *where, long step, int how) {
    snprintf(folder, sizeof folder, "%s", where);
    at = step, mode = how, steps = 0, armed = 1;
}

long shim_disarm(void) {
    armed = 0;
    return steps;
}

static int path_is_inside(const char *path) {
    return path && (path[0] != '/' || !strncmp(path, folder, strlen(folder)));
}

static int file_is_inside(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return path[0] == '/' && path_is_inside(path);
}

/* Returns whether the step fails; before a kill, `half` writes a part of what was to be written. */
static int fails(int inside, int takes_room, int fd, const void *half, size_t n) {
    if (!armed || !inside) return 0;
    steps++;
    if (mode == DISK_FULL && takes_room && steps >= at) return errno = ENOSPC, 1;
    if (steps != at) return 0;
    if (mode == KILL) {
        armed = 0;
        if (half) (void)!write(fd, half, n / 2);
        kill(getpid(), SIGKILL);
    }
    return mode == FAIL_ONCE ? errno = EIO, 1 : 0;
}

#define REAL(result, name, ...) static result (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, #name)
#define ON_PATH(name, path, room, ...) if (fails(armed && path_is_inside(path), room, -1, 0, 0)) return -1; return real(__VA_ARGS__)
#define ON_FILE(fd, room, half, n, ...) if (fails(armed && file_is_inside(fd), room, fd, half, n)) return -1; return real(__VA_ARGS__)

#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list more; va_start(more, flags); mode_t bits = va_arg(more, mode_t); va_end(more); \
    REAL(int, name, const char *, int, ...); ON_PATH(name, path, flags & O_CREAT, path, flags, bits); }
#define OPENAT(name) int name(int at_fd, const char *path, int flags, ...) { \
    va_list more; va_start(more, flags); mode_t bits = va_arg(more, mode_t); va_end(more); \
    REAL(int, name, int, const char *, int, ...); ON_PATH(name, path, flags & O_CREAT, at_fd, path, flags, bits); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

ssize_t read(int fd, void *to, size_t n) { REAL(ssize_t, read, int, void *, size_t); ON_FILE(fd, 0, 0, 0, fd, to, n); }
ssize_t pread(int fd, void *to, size_t n, off_t o) { REAL(ssize_t, pread, int, void *, size_t, off_t); ON_FILE(fd, 0, 0, 0, fd, to, n, o); }
ssize_t pread64(int fd, void *to, size_t n, off_t o) { REAL(ssize_t, pread64, int, void *, size_t, off_t); ON_FILE(fd, 0, 0, 0, fd, to, n, o); }
ssize_t write(int fd, const void *from, size_t n) { REAL(ssize_t, write, int, const void *, size_t); ON_FILE(fd, 1, from, n, fd, from, n); }
ssize_t pwrite64(int fd, const void *from, size_t n, off_t o) { REAL(ssize_t, pwrite64, int, const void *, size_t, off_t); ON_FILE(fd, 1, from, n, fd, from, n, o); }
ssize_t writev(int fd, const struct iovec *v, int n) { REAL(ssize_t, writev, int, const struct iovec *, int); ON_FILE(fd, 1, v[0].iov_base, v[0].iov_len, fd, v, n); }
int fsync(int fd) { REAL(int, fsync, int); ON_FILE(fd, 1, 0, 0, fd); }
int ftruncate64(int fd, off_t n) { REAL(int, ftruncate64, int, off_t); ON_FILE(fd, 1, 0, 0, fd, n); }
int rename(const char *a, const char *b) { REAL(int, rename, const char *, const char *); ON_PATH(rename, b, 0, a, b); }
int renameat(int i, const char *a, int j, const char *b) { REAL(int, renameat, int, const char *, int, const char *); ON_PATH(renameat, b, 0, i, a, j, b); }
int link(const char *a, const char *b) { REAL(int, link, const char *, const char *); ON_PATH(link, b, 1, a, b); }
int linkat(int i, const char *a, int j, const char *b, int f) { REAL(int, linkat, int, const char *, int, const char *, int); ON_PATH(linkat, b, 1, i, a, j, b, f); }
int unlink(const char *path) { REAL(int, unlink, const char *); ON_PATH(unlink, path, 0, path); }
int unlinkat(int fd, const char *path, int f) { REAL(int, unlinkat, int, const char *, int); ON_PATH(unlinkat, path, 0, fd, path, f); }
int mkdir(const char *path, mode_t bits) { REAL(int, mkdir, const char *, mode_t); ON_PATH(mkdir, path, 1, path, bits); }

#define MAP(name) void *name(void *a, size_t n, int p, int f, int fd, off_t o) { \
    REAL(void *, name, void *, size_t, int, int, int, off_t); \
    if (fd >= 0 && fails(armed && file_is_inside(fd), 0, -1, 0, 0)) return MAP_FAILED; \
    return real(a, n, p, f, fd, o); }
MAP(mmap) MAP(mmap64)
