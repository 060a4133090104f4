#pragma once
// Connections of SQLite to files go on in later steps of a session. SQLite knows a file again by
// its path and its inode number (fileHasMoved() in its os_unix.c), and holds locks of the process
// on it (fcntl(2)); all of these are others when the files of a node are put back. It calls the
// system by functions that a process may replace (sqlite3_vfs, xSetSystemCall): ours find the files
// where they are now, tell the numbers that they had when SQLite saw them first, and note the
// locks.

namespace shim {

// In a step, before a connection is made; does nothing in other jobs, or where SQLite is not
// loaded.
void follow_files_of_sqlite();
// At the begin of a step. `home`: see AnswerSpace. Where it goes on from a node, its files are open
// again.
void take_up_files_of_sqlite(const char* home, bool goes_on);
// At the end of a step. Allocates nothing.
void note_files_of_sqlite();

}  // namespace shim
