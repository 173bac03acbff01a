#include "base/sqlite/full_disk.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace trainyard::sqlite {

namespace {

MakeRoom& Maker() {
  static MakeRoom maker;
  return maker;
}

thread_local int g_may_make_room = 0;
thread_local int g_write_error = 0;

bool IsFull(int error_number) { return error_number == ENOSPC || error_number == EDQUOT; }

ssize_t Write(int file, const void* bytes, std::size_t count, off_t offset) {
  for (;;) {
    const ssize_t written = ::pwrite(file, bytes, count, offset);
    if (written >= 0) return written;
    g_write_error = errno;
    if (!IsFull(g_write_error) || g_may_make_room == 0 || !Maker() || !Maker()()) break;
  }
  errno = g_write_error;
  return -1;
}

}  // namespace

void SetMakeRoom(MakeRoom make_room) { Maker() = std::move(make_room); }

MayMakeRoom::MayMakeRoom() { ++g_may_make_room; }
MayMakeRoom::~MayMakeRoom() { --g_may_make_room; }

void WatchWrites() {
  static const bool watched = [] {
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    // SQLite's build decided which of the two it uses. Source: sqlite.org/c3ref/vfs.html.
    for (const char* name : {"pwrite", "pwrite64"})
      vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(Write));
    return true;
  }();
  static_cast<void>(watched);
}

int LastWriteError() { return g_write_error; }

}  // namespace trainyard::sqlite
