#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

/// What the disk itself can do: the limit of every durable figure.
namespace trainyard::bench {

using SteadyClock = std::chrono::steady_clock;

inline double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// write() and fdatasync() of blocks of `bytes` to one file in the folder, for `seconds`: blocks per second.
inline double SyncedBlocksPerSecond(const std::filesystem::path& folder, std::size_t bytes, double seconds) {
  const std::filesystem::path path = folder / "floor";
  const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) std::perror(path.c_str()), std::exit(1);
  const std::string block(bytes, 'x');
  int count = 0;
  const auto start = SteadyClock::now();
  for (; SecondsSince(start) < seconds; ++count) {
    if (write(file, block.data(), bytes) != static_cast<ssize_t>(bytes) || fdatasync(file) != 0) {
      std::perror(path.c_str()), std::exit(1);
    }
  }
  const double spent = SecondsSince(start);
  close(file);
  std::filesystem::remove(path);
  return count / spent;
}

/// A new folder below the one named on the command line, or below the current one.
inline std::filesystem::path FreshFolder(int argc, char** argv, const char* name) {
  const std::filesystem::path folder = std::filesystem::path(argc > 1 ? argv[1] : ".") / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace trainyard::bench
