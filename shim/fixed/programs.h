#pragma once
// Whether a program that this process executes loads this library, and word to zygo that one does
// not. Everything here may run in a child between vfork(2) and execve(2): nothing is allocated, and
// errno stays. It is the job's own process that looks and waits, and its own result that gets the
// word: a file that changes between this look and the kernel's own deceives nobody else. A relative
// path is read where this process is, not where posix_spawn_file_actions_addchdir_np(3) leads.

namespace fixed {

// `path` as openat(2) reads it; "" is `directory` itself.
void look_at_program(int directory, const char* path);
// As execvp(3) finds it.
void look_for_program(const char* file);
// Of a child that is known to be without the library.
void tell_of_unfixed_child();

}  // namespace fixed
