#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "trainyard/control/v1/job_rows.pb.h"
#include "trainyard/control/v1/record.pb.h"

/// A job as one line of a table. Pure: any thread.
namespace trainyard::jobs {

/// Of JobRow.reason, and of its other texts.
inline constexpr std::size_t kReasonBytesMax = 400;
inline constexpr std::size_t kRowWordsBytesMax = 200;

/// The row of a job or a tuning job; some hundred bytes, its labels aside.
///
/// @param waits_for  one sentence: what it waits for; empty: for nothing. Not used once the job has ended:
/// then
///                   the reason is the first line of errorMessage.
[[nodiscard]] control::v1::JobRow RowOf(const control::v1::JobRecord& record, std::string_view waits_for);

}  // namespace trainyard::jobs
