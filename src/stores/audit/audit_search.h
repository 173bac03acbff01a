#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/wire/filter.h"
#include "stores/logs/log_query.h"
#include "stores/logs/log_store.h"
#include "stores/store/page_token.h"

namespace trainyard::audit {

/// entries:list over the files of the audit log while they are being written. Entries are in order of time.
/// What is outside the times of the filter is not read: files are chosen by their day, lines within a file by
/// bisection. A page ends early after kLinesMax lines, kPageBytesMax bytes or kFilesMax files: then it may be
/// empty, and has a token. Lines that are not entries (cut by a crash) are skipped.
class AuditSearch {
 public:
  static constexpr int kLinesMax = 10'000;
  static constexpr std::size_t kPageBytesMax = std::size_t{8} << 20;
  static constexpr int kFilesMax = 500;

  /// Creates the directory (0700) and, in it, the key of page tokens. Blocks.
  [[nodiscard]] static Result<std::unique_ptr<AuditSearch>> Open(std::string folder,
                                                                 int lines_max = kLinesMax);

  /// Runs on a separate thread. This object must outlive the call. kInvalidArgument with field "page_token".
  boost::asio::awaitable<Result<logs::LogPage>> List(logs::LogQuery query);
  /// The same, but synchronous: blocks. Any thread.
  [[nodiscard]] Result<logs::LogPage> Read(const logs::LogQuery& query) const;

 private:
  AuditSearch(std::string folder, int lines_max, store::PageTokenKey key)
      : folder_(std::move(folder)), lines_max_(lines_max), key_(key) {}

  std::string folder_;
  int lines_max_;
  store::PageTokenKey key_;
  boost::asio::thread_pool thread_{1};
};

/// Whether only entries of audit logs can match, judging by the filter's terms for logName:
/// logName="projects/P/ logs/cloudaudit.googleapis.com%2Factivity", logName:"cloudaudit.googleapis.com",
/// log_id(...), several joined by OR. If so, entries:list is answered from the audit log, otherwise from the
/// logs of jobs, never from both.
[[nodiscard]] bool NamesAuditLogs(const wire::Filter& filter);

}  // namespace trainyard::audit
