#pragma once

#include <cstddef>
#include <optional>

#include "rules/jobs/waiting.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/control/v1/timeline.pb.h"

/// A job's history in sentences. Pure: any thread.
namespace trainyard::jobs {

/// The limit of an entry's detail.
inline constexpr std::size_t kDetailBytesMax = std::size_t{4} << 10;

/// The event as an entry on a job's page.
[[nodiscard]] control::v1::JobTimeline::Entry EntryOf(const control::v1::Event& event);

/// Adds to a job's last entry what the job has been waiting for since then, if it waits.
void AddWait(const std::optional<Waiting>& waiting, control::v1::JobTimeline::Entry& last);

}  // namespace trainyard::jobs
