#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/wire/filter.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The etag of a job in the API: a different one after every event.
[[nodiscard]] std::string Etag(const v1::JobRecord& record);

/// The jobs that jobs.list searches for. Shared with the reader's thread, which searches a long history; do
/// not read its results before that thread has answered.
class ListSearch {
 public:
  ListSearch(wire::Filter filter, SysTime oldest) : filter_(std::move(filter)), oldest_(oldest) {}

  /// A job that has not ended passes: its position in the queue is only known on the loop.
  [[nodiscard]] static std::function<bool(v1::JobRecord&)> EndedJobs(std::shared_ptr<ListSearch> search);
  /// Whether a job matches that has ended, or any job if the filter is empty; sets its etag, which the filter
  /// may use.
  [[nodiscard]] static bool WantsEnded(const ListSearch& search, v1::JobRecord& record);
  /// Whether a job matches, in its displayed form.
  [[nodiscard]] bool Wants(const ml::v1::Job& job) const { return wire::Matches(filter_, job); }
  /// Whether the filter is empty.
  [[nodiscard]] bool matches_all() const noexcept;
  /// Whether a job that is too old was seen: all later ones in the list are older.
  [[nodiscard]] bool past_window() const noexcept { return past_window_; }

 private:
  [[nodiscard]] bool IsTooOld(const v1::JobRecord& record) const;

  wire::Filter filter_;
  SysTime oldest_;
  bool past_window_ = false;
};

/// A page token of the store, bound to this filter; and the reverse. kInvalidArgument with field
/// "page_token": made for another filter. An empty token stays empty. Pure: any thread.
[[nodiscard]] std::string BindPageToken(std::string token, std::string_view filter);
[[nodiscard]] Result<std::string> UnbindPageToken(std::string_view token, std::string_view filter);

}  // namespace trainyard::control
