/* What zygo calls and the C library of Debian 11 (2.31) does not have, for the programs of
 * packages; names.py makes the rest. Hidden: nobody else's calls come here. Functions of 2.34
 * and 2.36 that are only a system call, and a variable of 2.32 by which libstdc++ leaves out
 * atomics while there is one thread; false is always right. */
#include <sys/syscall.h>
#include <unistd.h>

char __libc_single_threaded = 0;

int close_range(unsigned first, unsigned last, int flags);
int fsopen(const char* name, unsigned flags);
int fsconfig(int fd, unsigned command, const char* key, const void* value, int number);
int fsmount(int fd, unsigned flags, unsigned attributes);

int close_range(unsigned first, unsigned last, int flags) {
  return (int)syscall(SYS_close_range, first, last, flags);
}

int fsopen(const char* name, unsigned flags) { return (int)syscall(SYS_fsopen, name, flags); }

int fsconfig(int fd, unsigned command, const char* key, const void* value, int number) {
  return (int)syscall(SYS_fsconfig, fd, command, key, value, number);
}

int fsmount(int fd, unsigned flags, unsigned attributes) {
  return (int)syscall(SYS_fsmount, fd, flags, attributes);
}
