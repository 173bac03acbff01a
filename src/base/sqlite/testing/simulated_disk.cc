#include "base/sqlite/testing/simulated_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "base/check.h"

namespace trainyard::sqlite {
namespace {

SimulatedDisk* the_disk = nullptr;

}  // namespace

/// What SQLite calls. Source: sqlite.org, "The SQLite OS Interface or VFS".
struct DiskCalls {
  using File = SimulatedDisk::File;
  struct Handle {
    sqlite3_file base;
    std::shared_ptr<File> file;
    int lock;
  };

  static SimulatedDisk& Disk(sqlite3_vfs* vfs) { return *static_cast<SimulatedDisk*>(vfs->pAppData); }
  static Handle& Of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
  static sqlite3_vfs* Real() { return sqlite3_vfs_find("unix"); }
  static bool IsOurs(const char* name) {
    return name != nullptr && std::string_view(name).starts_with(SimulatedDisk::kFolder);
  }

  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* opened, int flags, int* out_flags) {
    if (!IsOurs(name)) return Real()->xOpen(Real(), name, opened, flags, out_flags);
    SimulatedDisk& disk = Disk(vfs);
    const std::lock_guard lock(disk.mutex_);
    opened->pMethods = nullptr;
    if (disk.is_broken_) return SQLITE_IOERR;
    const auto found = disk.files_.find(name);
    if (found == disk.files_.end() && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    if (found == disk.files_.end() && !disk.Operate()) return SQLITE_IOERR;
    auto& file = disk.files_[name];
    if (!file) file = std::make_shared<File>();
    auto* handle = new (opened) Handle{.base = {}, .file = file, .lock = SQLITE_LOCK_NONE};
    handle->base.pMethods = Methods();
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }

  static int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    if (!IsOurs(name)) return Real()->xDelete(Real(), name, sync_folder);
    SimulatedDisk& disk = Disk(vfs);
    const std::lock_guard lock(disk.mutex_);
    if (!disk.Operate()) return SQLITE_IOERR_DELETE;
    return disk.files_.erase(name) != 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
  }

  static int Access(sqlite3_vfs* vfs, const char* name, int flags, int* result) {
    if (!IsOurs(name)) return Real()->xAccess(Real(), name, flags, result);
    SimulatedDisk& disk = Disk(vfs);
    const std::lock_guard lock(disk.mutex_);
    *result = disk.files_.contains(name) ? 1 : 0;
    return SQLITE_OK;
  }

  static int FullPathname(sqlite3_vfs*, const char* name, int bytes, char* out) {
    if (!IsOurs(name)) return Real()->xFullPathname(Real(), name, bytes, out);
    sqlite3_snprintf(bytes, out, "%s", name);
    return SQLITE_OK;
  }

  static int Close(sqlite3_file* file) {
    Unlock(file, SQLITE_LOCK_NONE);
    Of(file).~Handle();
    return SQLITE_OK;
  }

  static int Read(sqlite3_file* file, void* out, int bytes, sqlite3_int64 offset) {
    const std::lock_guard lock(the_disk->mutex_);
    if (the_disk->fails_after_ == 0 || the_disk->is_broken_) return SQLITE_IOERR_READ;
    const std::string& content = Of(file).file->content;
    const auto from = std::min(static_cast<std::size_t>(offset), content.size());
    const std::size_t got = std::min(static_cast<std::size_t>(bytes), content.size() - from);
    std::memcpy(out, content.data() + from, got);
    if (got == static_cast<std::size_t>(bytes)) return SQLITE_OK;
    std::memset(static_cast<char*>(out) + got, 0, static_cast<std::size_t>(bytes) - got);
    return SQLITE_IOERR_SHORT_READ;
  }

  static int Write(sqlite3_file* file, const void* in, int bytes, sqlite3_int64 offset) {
    const std::lock_guard lock(the_disk->mutex_);
    File& target = *Of(file).file;
    const bool grows = static_cast<std::size_t>(offset + bytes) > target.content.size();
    if (grows && the_disk->is_full_) return SQLITE_FULL;
    if (!the_disk->Operate()) return SQLITE_IOERR_WRITE;
    SimulatedDisk::Write write{
        .offset = offset,
        .bytes = std::string(static_cast<const char*>(in), static_cast<std::size_t>(bytes))};
    Apply(write, target.content);
    target.unsynced.push_back(std::move(write));
    return SQLITE_OK;
  }

  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    const std::lock_guard lock(the_disk->mutex_);
    if (!the_disk->Operate()) return SQLITE_IOERR_TRUNCATE;
    File& target = *Of(file).file;
    SimulatedDisk::Write write{.offset = size, .bytes = {}};
    Apply(write, target.content);
    target.unsynced.push_back(std::move(write));
    return SQLITE_OK;
  }

  static int Sync(sqlite3_file* file, int) {
    const std::lock_guard lock(the_disk->mutex_);
    if (!the_disk->Operate()) return SQLITE_IOERR_FSYNC;
    if (the_disk->lies_) return SQLITE_OK;
    File& target = *Of(file).file;
    for (const SimulatedDisk::Write& write : target.unsynced) Apply(write, target.durable);
    target.unsynced.clear();
    target.is_durable = true;
    return SQLITE_OK;
  }

  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    const std::lock_guard lock(the_disk->mutex_);
    *size = static_cast<sqlite3_int64>(Of(file).file->content.size());
    return SQLITE_OK;
  }

  // Locks between connections of this process.
  static int Lock(sqlite3_file* file, int wanted) {
    const std::lock_guard lock(the_disk->mutex_);
    Handle& handle = Of(file);
    SimulatedDisk::Locks& locks = handle.file->locks;
    if (handle.lock >= wanted) return SQLITE_OK;
    if (locks.exclusive != nullptr && locks.exclusive != file) return SQLITE_BUSY;
    if (wanted >= SQLITE_LOCK_RESERVED && the_disk->is_locked_) return SQLITE_BUSY;
    if (wanted >= SQLITE_LOCK_RESERVED && locks.reserved != nullptr && locks.reserved != file)
      return SQLITE_BUSY;
    if (handle.lock == SQLITE_LOCK_NONE) ++locks.shared;
    handle.lock = std::max(handle.lock, SQLITE_LOCK_SHARED);
    if (wanted >= SQLITE_LOCK_RESERVED) locks.reserved = file;
    if (wanted == SQLITE_LOCK_EXCLUSIVE && locks.shared > 1) return SQLITE_BUSY;
    if (wanted == SQLITE_LOCK_EXCLUSIVE) locks.exclusive = file;
    handle.lock = wanted;
    return SQLITE_OK;
  }

  static int Unlock(sqlite3_file* file, int kept) {
    const std::lock_guard lock(the_disk->mutex_);
    Handle& handle = Of(file);
    SimulatedDisk::Locks& locks = handle.file->locks;
    if (handle.lock <= kept) return SQLITE_OK;
    if (locks.exclusive == file) locks.exclusive = nullptr;
    if (locks.reserved == file) locks.reserved = nullptr;
    if (kept == SQLITE_LOCK_NONE) --locks.shared;
    handle.lock = kept;
    return SQLITE_OK;
  }

  static int CheckReserved(sqlite3_file* file, int* result) {
    const std::lock_guard lock(the_disk->mutex_);
    *result = Of(file).file->locks.reserved != nullptr ? 1 : 0;
    return SQLITE_OK;
  }

  static constexpr int kWriterSlot = 0;  ///< of the index: its holder may write

  // The index of the write-ahead log, which connections share in memory.
  static int MapIndex(sqlite3_file* file, int region, int bytes, int extend, void volatile** memory) {
    const std::lock_guard lock(the_disk->mutex_);
    auto& regions = Of(file).file->index.regions;
    const auto wanted = static_cast<std::size_t>(region);
    *memory = nullptr;
    if (wanted >= regions.size() && extend == 0) return SQLITE_OK;
    while (regions.size() <= wanted)
      regions.push_back(std::make_unique<std::string>(static_cast<std::size_t>(bytes), '\0'));
    *memory = regions[wanted]->data();
    return SQLITE_OK;
  }

  static int LockIndex(sqlite3_file* file, int first, int count, int flags) {
    const std::lock_guard lock(the_disk->mutex_);
    SimulatedDisk::Index& index = Of(file).file->index;
    const bool shares = (flags & SQLITE_SHM_SHARED) != 0;
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      for (int slot = first; slot < first + count; ++slot) {
        if (shares) --index.shared[slot];
        if (!shares) index.exclusive[slot] = nullptr;
      }
      return SQLITE_OK;
    }
    for (int slot = first; slot < first + count; ++slot) {
      if (slot == kWriterSlot && !shares && the_disk->is_locked_) return SQLITE_BUSY;
      if (index.exclusive[slot] != nullptr || (!shares && index.shared[slot] > 0)) return SQLITE_BUSY;
    }
    for (int slot = first; slot < first + count; ++slot) {
      if (shares) ++index.shared[slot];
      if (!shares) index.exclusive[slot] = file;
    }
    return SQLITE_OK;
  }

  static void IndexBarrier(sqlite3_file*) {}
  static int UnmapIndex(sqlite3_file*, int) { return SQLITE_OK; }
  static int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return SimulatedDisk::kSectorBytes; }
  static int Characteristics(sqlite3_file*) { return 0; }

  static const sqlite3_io_methods* Methods() {
    static const sqlite3_io_methods kMethods{2,
                                             Close,
                                             Read,
                                             Write,
                                             Truncate,
                                             Sync,
                                             FileSize,
                                             Lock,
                                             Unlock,
                                             CheckReserved,
                                             FileControl,
                                             SectorSize,
                                             Characteristics,
                                             MapIndex,
                                             LockIndex,
                                             IndexBarrier,
                                             UnmapIndex,
                                             nullptr,
                                             nullptr};
    return &kMethods;
  }

  static int Sleep(sqlite3_vfs* vfs, int microseconds) {
    const auto& sleep = Disk(vfs).sleep_;
    if (!sleep) return Real()->xSleep(Real(), microseconds);
    sleep(std::chrono::microseconds(microseconds));
    return microseconds;
  }

  static int Randomness(sqlite3_vfs* vfs, int bytes, char* out) {
    SimulatedDisk& disk = Disk(vfs);
    const std::lock_guard lock(disk.mutex_);
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<char>(disk.random_());
    return bytes;
  }

  static void Apply(const SimulatedDisk::Write& write, std::string& content) {
    const auto offset = static_cast<std::size_t>(write.offset);
    if (write.bytes.empty()) return content.resize(offset);
    if (content.size() < offset) content.resize(offset);
    content.replace(offset, write.bytes.size(), write.bytes);
  }

  static sqlite3_vfs& Vfs(SimulatedDisk* disk) {
    static sqlite3_vfs vfs;
    vfs = *Real();  // its clock
    vfs.szOsFile = std::max(vfs.szOsFile, static_cast<int>(sizeof(Handle)));
    vfs.zName = "simulated";
    vfs.pAppData = disk;
    vfs.xOpen = Open;
    vfs.xDelete = Delete;
    vfs.xAccess = Access;
    vfs.xFullPathname = FullPathname;
    vfs.xRandomness = Randomness;
    vfs.xSleep = Sleep;
    return vfs;
  }
};

SimulatedDisk::SimulatedDisk(std::uint64_t seed) : random_(seed) {
  TY_CHECK(the_disk == nullptr);
  sqlite3_initialize();
  the_disk = this;
  TY_CHECK(sqlite3_vfs_register(&DiskCalls::Vfs(this), 1) == SQLITE_OK);
  sqlite3_randomness(0, nullptr);  // SQLite asks again, and gets numbers that depend on the seed alone
}

SimulatedDisk::~SimulatedDisk() {
  sqlite3_vfs_unregister(sqlite3_vfs_find("simulated"));
  sqlite3_vfs_register(DiskCalls::Real(), 1);
  the_disk = nullptr;
}

bool SimulatedDisk::Operate() {
  if (fails_after_ == 0 || is_broken_) return false;
  if (fails_after_ > 0) --fails_after_;
  ++operations_;
  return true;
}

void SimulatedDisk::FailAfter(std::int64_t operations) {
  const std::lock_guard lock(mutex_);
  fails_after_ = operations;
}

bool SimulatedDisk::is_gone() const {
  const std::lock_guard lock(mutex_);
  return fails_after_ == 0;
}

void SimulatedDisk::SetFull(bool full) {
  const std::lock_guard lock(mutex_);
  is_full_ = full;
}

void SimulatedDisk::SetBroken(bool broken) {
  const std::lock_guard lock(mutex_);
  is_broken_ = broken;
}

void SimulatedDisk::SetLocked(bool locked) {
  const std::lock_guard lock(mutex_);
  is_locked_ = locked;
}

bool SimulatedDisk::may_refuse() const {
  const std::lock_guard lock(mutex_);
  return is_broken_ || is_locked_;
}

void SimulatedDisk::SetSleep(std::function<void(std::chrono::microseconds)> sleep) {
  sleep_ = std::move(sleep);
}

void SimulatedDisk::SetLying(bool lies) {
  const std::lock_guard lock(mutex_);
  lies_ = lies;
}

std::int64_t SimulatedDisk::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

void SimulatedDisk::LoseUnsynced(File& file) {
  for (const Write& write : file.unsynced) {
    if (write.bytes.empty()) {
      if (random_() % 2 == 0) DiskCalls::Apply(write, file.durable);
      continue;
    }
    for (std::size_t at = 0; at < write.bytes.size();) {
      const std::size_t sector_end =
          (static_cast<std::size_t>(write.offset) + at) / kSectorBytes * kSectorBytes + kSectorBytes;
      const std::size_t piece =
          std::min(write.bytes.size() - at, sector_end - static_cast<std::size_t>(write.offset) - at);
      const Write part{.offset = write.offset + static_cast<std::int64_t>(at),
                       .bytes = write.bytes.substr(at, piece)};
      if (random_() % 2 == 0) DiskCalls::Apply(part, file.durable);
      at += piece;
    }
  }
  file.unsynced.clear();
  file.content = file.durable;
  file.locks = {};
  file.index = {};
}

void SimulatedDisk::ProcessEnd() {
  const std::lock_guard lock(mutex_);
  fails_after_ = -1;
  for (const auto& [name, file] : files_) {
    file->locks = {};
    file->index = {};
  }
}

void SimulatedDisk::PowerCut() {
  const std::lock_guard lock(mutex_);
  fails_after_ = -1;
  std::erase_if(files_,
                [this](const auto& entry) { return !entry.second->is_durable && random_() % 2 == 0; });
  for (const auto& [name, file] : files_) {
    LoseUnsynced(*file);
    file->is_durable = true;
  }
}

}  // namespace trainyard::sqlite
