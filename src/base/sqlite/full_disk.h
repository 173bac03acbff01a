#pragma once

#include <functional>

/// Handling of SQLite's writes to a full disk.
namespace trainyard::sqlite {

/// Frees a little disk space; false: it cannot. Any thread.
using MakeRoom = std::function<bool()>;
/// Sets the function. Call it once, before there are other threads; the function outlives all databases.
void SetMakeRoom(MakeRoom make_room);

/// While an object of this class lives, its thread's database writes that meet a full disk call MakeRoom and
/// try again. For operations that end a job or free space; operations that fill the disk must not use it.
class MayMakeRoom {
 public:
  MayMakeRoom();
  MayMakeRoom(const MayMakeRoom&) = delete;
  MayMakeRoom& operator=(const MayMakeRoom&) = delete;
  ~MayMakeRoom();
};

/// Replaces SQLite's write(2) with ours. Any thread, any number of times.
void WatchWrites();
/// errno of this thread's last failed write: SQLite reports every failed write as an I/O error.
[[nodiscard]] int LastWriteError();

}  // namespace trainyard::sqlite
