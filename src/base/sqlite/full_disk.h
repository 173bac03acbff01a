#pragma once

#include <functional>

/// What SQLite does where a write meets a full disk.
namespace trainyard::sqlite {

/// Makes a little room; false: it cannot. Any thread.
using MakeRoom = std::function<bool()>;
/// Once, before there are other threads. It outlives all databases.
void SetMakeRoom(MakeRoom make_room);

/// While it lives, its thread's writes to databases that meet a full disk ask for room and try again. For
/// what ends a job or makes room itself; whatever fills the disk has to do without.
class MayMakeRoom {
 public:
  MayMakeRoom();
  MayMakeRoom(const MayMakeRoom&) = delete;
  MayMakeRoom& operator=(const MayMakeRoom&) = delete;
  ~MayMakeRoom();
};

/// Puts our write(2) in the place of SQLite's. Any thread, any number of times.
void WatchWrites();
/// errno of this thread's last write that failed: SQLite calls every failed write an I/O error.
[[nodiscard]] int LastWriteError();

}  // namespace trainyard::sqlite
