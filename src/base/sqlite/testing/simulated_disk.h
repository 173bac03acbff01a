#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::sqlite {

/// For tests: a disk in memory that loses what a power cut may lose. While it exists, databases whose path
/// begins with kFolder lie on it; all others are as before. What was written and not synced is lost at a
/// power cut, sector by sector, in any order, or torn; a created file is lost with it, unless it was synced.
/// Equal seeds and equal calls give equal disks. One at a time; any thread.
class SimulatedDisk {
 public:
  static constexpr const char* kFolder = "/simulated/";
  static constexpr std::size_t kSectorBytes = 512;

  explicit SimulatedDisk(std::uint64_t seed);
  ~SimulatedDisk();
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;

  /// After so many further writes, syncs and removals the disk is gone: all calls fail until PowerCut.
  void FailAfter(std::int64_t operations);
  /// Whether that has come.
  [[nodiscard]] bool is_gone() const;
  /// No write that makes a file longer succeeds.
  void SetFull(bool full);
  /// Every call fails, as on a disk that is broken.
  void SetBroken(bool broken);
  /// Another process holds the locks that writers need.
  void SetLocked(bool locked);
  /// It is broken or locked: databases cannot always be opened.
  [[nodiscard]] bool may_refuse() const;
  /// How SQLite waits for a lock; by default it sleeps.
  void SetSleep(std::function<void(std::chrono::microseconds)> sleep);
  /// It reports syncs that it does not do, as some disks do.
  void SetLying(bool lies);
  /// Loses what is not synced; the disk works again. All connections must be closed.
  void PowerCut();
  /// The process that used the disk is gone, and nothing is lost; the disk works again.
  void ProcessEnd();
  /// Writes, syncs and removals so far.
  [[nodiscard]] std::int64_t operations() const;

 private:
  friend struct DiskCalls;
  struct Write {
    std::int64_t offset = 0;
    std::string bytes;  ///< empty: the file was cut to `offset`
  };
  struct Locks {
    int shared = 0;
    const void* reserved = nullptr;  ///< who has it
    const void* exclusive = nullptr;
  };
  struct Index {
    std::vector<std::unique_ptr<std::string>> regions{};
    std::map<int, int> shared{};
    std::map<int, const void*> exclusive{};
  };
  struct File {
    std::string content;
    std::string durable;
    bool is_durable = false;  ///< its name survives a power cut
    std::vector<Write> unsynced{};
    Locks locks{};
    Index index{};
  };

  /// Whether one more operation succeeds. With `mutex_` held.
  bool Operate();
  void LoseUnsynced(File& file);

  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::int64_t operations_ = 0;
  std::int64_t fails_after_ = -1;  ///< negative: never
  bool is_full_ = false;
  bool is_broken_ = false;
  bool is_locked_ = false;
  bool lies_ = false;
  std::function<void(std::chrono::microseconds)> sleep_;
};

}  // namespace trainyard::sqlite
