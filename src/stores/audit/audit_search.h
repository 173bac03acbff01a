#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "stores/logs/log_query.h"
#include "stores/logs/log_store.h"
#include "stores/store/page_token.h"

namespace trainyard::audit {

/// entries:list over the files of the audit log, while they are written. Entries are in order of time. What
/// is before the filter's first or after its last time is not read: files by their day, within a file by
/// bisection. A page is cut short after kLinesMax lines, kPageBytesMax bytes or kFilesMax files: then it may
/// be empty, and has a token. Lines that are no entries (cut by a crash) are passed by.
class AuditSearch {
 public:
  static constexpr int kLinesMax = 10'000;
  static constexpr std::size_t kPageBytesMax = std::size_t{8} << 20;
  static constexpr int kFilesMax = 500;

  /// Makes the folder (0700) and, in it, the key of page tokens. Blocks.
  [[nodiscard]] static Result<std::unique_ptr<AuditSearch>> Open(std::string folder,
                                                                 int lines_max = kLinesMax);

  /// On a thread of its own. Outlives the call. kInvalidArgument with field "page_token".
  boost::asio::awaitable<Result<logs::LogPage>> List(logs::LogQuery query);
  /// The same at once: blocks. Any thread.
  [[nodiscard]] Result<logs::LogPage> Read(const logs::LogQuery& query) const;

 private:
  AuditSearch(std::string folder, int lines_max, store::PageTokenKey key)
      : folder_(std::move(folder)), lines_max_(lines_max), key_(key) {}

  std::string folder_;
  int lines_max_;
  store::PageTokenKey key_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace trainyard::audit
