#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/async/unique_fd.h"
#include "base/packing/archive_writer.h"
#include "base/packing/entry_names.h"
#include "net/http/message.h"
#include "stores/storage/buckets.h"

namespace trainyard::api {

/// A directory of a bucket as an archive, made while it is sent: it keeps one page of names, one open object
/// and one piece in memory, however large the directory is. Each object is read when its turn comes; one that
/// is deleted by then is left out. Loop thread; reading and compressing happen on `pool`.
class FolderArchive {
 public:
  struct Folder {
    std::string bucket;
    std::string prefix;  ///< as ReadFolder
    std::string top;     ///< the one directory in the archive that contains everything else
  };
  /// Limits of the archive: entries, and bytes of their names.
  struct Limits {
    std::int64_t entries = 0;
    std::int64_t name_bytes = 0;
  };
  /// `buckets` and `pool` outlive it.
  FolderArchive(storage::Buckets& buckets, boost::asio::thread_pool& pool, Folder folder,
                std::unique_ptr<packing::ArchiveWriter> writer, Limits limits);

  /// The next piece; an empty one ends the archive. kDataLoss: an object's file became shorter while it was
  /// read; kResourceExhausted: more than the limits; otherwise the errors of Buckets. After an error the
  /// archive is incomplete.
  boost::asio::awaitable<Result<std::string>> Next();

 private:
  struct Open;

  boost::asio::awaitable<Result<bool>> Advance();
  boost::asio::awaitable<Result<bool>> NextPage();
  boost::asio::awaitable<Status> BeginObject();

  storage::Buckets& buckets_;
  boost::asio::thread_pool& pool_;
  Folder folder_;
  std::shared_ptr<packing::ArchiveWriter> writer_;  ///< shared with the task that uses it
  packing::EntryNames names_;
  Limits left_;
  storage::v1::Objects page_;
  int at_ = 0;  ///< index in the page's objects
  bool has_listed_ = false;
  bool is_done_ = false;
  std::shared_ptr<Open> open_;  ///< shared with the task that reads it; null: between two objects
  std::string made_;
};

}  // namespace trainyard::api
