#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/remove_tree.h"
#include "base/async/system_clock.h"
#include "stores/storage/buckets.h"

namespace trainyard::storage {

/// A temporary directory that the destructor removes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "storage_test.XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { EXPECT_TRUE(RemoveTree(path_)); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The system's time plus what a test adds to it. Read on the loop and on the thread for names.
class ShiftedClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override {
    return clock_.Now() + std::chrono::nanoseconds(shift_ns_.load());
  }
  void Advance(std::chrono::nanoseconds by) { shift_ns_ += by.count(); }

 private:
  SystemClock clock_;
  std::atomic<std::int64_t> shift_ns_ = 0;
};

/// Buckets over a real directory, and a loop to run their coroutines on.
class Storage {
 public:
  explicit Storage(std::filesystem::path data, bool create_on_use = true)
      : Storage(Buckets::Options{.data = std::move(data), .create_on_use = create_on_use}) {}
  explicit Storage(Buckets::Options options) : data_(options.data) {
    auto opened = Buckets::Open(std::move(options), clock_, files_);
    EXPECT_TRUE(opened) << opened.error().message;
    buckets_ = *std::move(opened);
  }
  ~Storage() {
    files_.join();
    buckets_.reset();
  }

  /// Starts work that runs together with the next Await, which also waits for its end.
  template <class T>
  void Begin(asio::awaitable<T> work, std::optional<T>& result) {
    asio::co_spawn(loop_, Store(std::move(work), result), asio::detached);
  }

  template <class T>
  T Await(asio::awaitable<T> work) {
    std::optional<T> result;
    std::future<void> done = asio::co_spawn(loop_, Store(std::move(work), result), asio::use_future);
    loop_.restart();
    loop_.run();
    done.get();
    return *std::move(result);
  }

  Result<v1::Object> Put(v1::Object resource, std::string_view contents, Conditions when = {}) {
    auto writer = Await(buckets_->BeginWrite(std::move(resource), when));
    if (!writer) return std::unexpected(writer.error());
    for (std::size_t at = 0; at < contents.size(); at += ObjectWriter::kPieceBytes) {
      const Status written =
          Await(writer->Append(std::string(contents.substr(at, ObjectWriter::kPieceBytes))));
      if (!written) return std::unexpected(written.error());
    }
    return Await(buckets_->Finish(*std::move(writer)));
  }
  Result<v1::Object> Put(const std::string& object, std::string_view contents, Conditions when = {}) {
    v1::Object resource;
    resource.set_bucket("bucket");
    resource.set_name(object);
    return Put(std::move(resource), contents, when);
  }
  /// "error: ..." if it cannot be read.
  std::string Get(const std::string& object) {
    auto opened = Await(buckets_->OpenRead("bucket", object));
    if (!opened) return "error: " + opened.error().message;
    return Slurp("/proc/self/fd/" + std::to_string(opened->file.get()));
  }
  static std::string Slurp(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  [[nodiscard]] ShiftedClock& clock() { return clock_; }
  [[nodiscard]] Buckets& buckets() { return *buckets_; }
  [[nodiscard]] std::filesystem::path folder() const { return data_ / "buckets" / "bucket"; }
  [[nodiscard]] std::filesystem::path data() const { return data_; }

 private:
  template <class T>
  static asio::awaitable<void> Store(asio::awaitable<T> work, std::optional<T>& result) {
    result.emplace(co_await std::move(work));
  }

  std::filesystem::path data_;
  ShiftedClock clock_;
  asio::io_context loop_;
  asio::thread_pool files_{2};
  std::unique_ptr<Buckets> buckets_;
};

}  // namespace trainyard::storage
